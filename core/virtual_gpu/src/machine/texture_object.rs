//! Texture and surface objects among the arguments of a launch.

use lightbench_primitives::texture::TextureObject;

/// An object of a launch.
#[derive(Clone, Debug)]
pub(super) struct BoundTexture {
    /// The address of the first texel.
    pub(super) address: u64,
    pub(super) object: TextureObject,
}

/// The value of the first object of a launch; the others follow. No buffer has such an address.
pub(super) const FIRST_OBJECT: u64 = 0x7458_0000_0000_0001;

/// The value of an object.
pub(super) const fn object_value(index: usize) -> u64 {
    FIRST_OBJECT + index as u64
}
