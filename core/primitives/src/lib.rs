//! Foundations of all other crates: element types and their conversions, tensor maps, random numbers, cancellation,
//! queues between threads, text that is safe to display, folders that are safe to write, and files that are written whole.

pub mod c_names;
pub mod cancellation;
pub mod coalescing_queue;
pub mod compute_capability;
pub mod display_text;
pub mod dtype;
pub mod element;
pub mod element_text;
pub mod float_format;
pub mod half;
pub mod host_name;
pub mod no_links;
pub mod owned_folder;
pub mod random;
pub mod scalar_value;
pub mod tensor_map;
pub mod texture;
pub mod wake_signal;
pub mod whole_file;
