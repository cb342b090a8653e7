"""Human ears: listening tests in the browser, and their statistics."""
