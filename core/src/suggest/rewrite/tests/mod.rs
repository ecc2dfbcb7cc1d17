//! Rules on small kernels, on the sample projects, and on texts that make no sense.
