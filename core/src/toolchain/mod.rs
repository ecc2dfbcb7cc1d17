//! Finds or fetches the CUDA compiler and its tools, and says what is missing.
