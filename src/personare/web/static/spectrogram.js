// Draws what a sound is made of: time across, frequency upwards to 8 kHz, darker is stronger.
const SIZE = 512, TOP_HZ = 8000, FLOOR_DB = -75;

function transform(re, im) {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) { [re[i], re[j]] = [re[j], re[i]]; [im[i], im[j]] = [im[j], im[i]]; }
  }
  for (let width = 2; width <= n; width <<= 1) {
    const step = -2 * Math.PI / width, half = width >> 1;
    for (let start = 0; start < n; start += width) {
      for (let k = 0; k < half; k++) {
        const c = Math.cos(step * k), s = Math.sin(step * k), a = start + k, b = a + half;
        const x = re[b] * c - im[b] * s, y = re[b] * s + im[b] * c;
        re[b] = re[a] - x; im[b] = im[a] - y; re[a] += x; im[a] += y;
      }
    }
  }
}

export async function draw(canvas, address) {
  const bytes = await (await fetch(address, { cache: "no-store" })).arrayBuffer();
  const sound = await new OfflineAudioContext(1, 1, 2 * TOP_HZ).decodeAudioData(bytes);
  const samples = sound.getChannelData(0), columns = Math.min(360, Math.max(1, Math.floor((samples.length - SIZE) / 64))), rows = SIZE / 2;
  const context = canvas.getContext("2d");
  canvas.width = columns; canvas.height = rows;
  const shape = getComputedStyle(canvas), ink = shape.color.match(/[\d.]+/g).map(Number), paper = shape.backgroundColor.match(/[\d.]+/g).map(Number);
  const image = context.createImageData(columns, rows), level = new Float32Array(columns * rows);
  let most = -Infinity;
  for (let x = 0; x < columns; x++) {
    const start = Math.floor(x * Math.max(0, samples.length - SIZE) / columns), re = new Float32Array(SIZE), im = new Float32Array(SIZE);
    for (let i = 0; i < SIZE; i++) re[i] = (samples[start + i] || 0) * (0.5 - 0.5 * Math.cos(2 * Math.PI * i / SIZE));
    transform(re, im);
    for (let y = 0; y < rows; y++) { const db = 10 * Math.log10(re[y] ** 2 + im[y] ** 2 + 1e-12); level[y * columns + x] = db; most = Math.max(most, db); }
  }
  for (let y = 0; y < rows; y++) for (let x = 0; x < columns; x++) {
    const part = Math.min(1, Math.max(0, 1 + (level[y * columns + x] - most) / -FLOOR_DB)), at = 4 * ((rows - 1 - y) * columns + x);
    for (let c = 0; c < 3; c++) image.data[at + c] = paper[c] + (ink[c] - paper[c]) * part;
    image.data[at + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}
