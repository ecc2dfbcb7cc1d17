//! Textures and surfaces. PTX ISA, sections "Texture Instructions" and "Surface Instructions".

use super::keyword::{keywords, scalar_subset};
use super::memory::Space;
use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Refusal, Row};

keywords! {
    /// A dimension whose size is queried.
    Extent: "a dimension: `.width`, `.height` or `.depth`" {
        Width = "width", Height = "height", Depth = "depth",
    }
}

keywords! {
    /// An access outside of a surface.
    OutsideSurface: "`.trap`, `.clamp` or `.zero`" {
        Trap = "trap", Clamp = "clamp", Zero = "zero",
    }
}

keywords! {
    /// The component that a gather returns of each texel.
    Component: "a component: `.r`, `.g`, `.b` or `.a`" {
        Red = "r", Green = "g", Blue = "b", Alpha = "a",
    }
}

scalar_subset! {
    /// The type of fetched values.
    ResultType: "`.f32`, `.s32` or `.u32`" { F32, S32, U32 }
}

scalar_subset! {
    /// The type of values in a surface.
    SurfaceElement: "`.b8`, `.b16`, `.b32` or `.b64`" { B8, B16, B32, B64 }
}

/// Whether fetches return floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TexelResult {
    Float,
    Integer,
}

/// Texture and surface instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Texture {
    /// One filtered texel; with one integer coordinate, the texel of that index in linear memory.
    Fetch {
        rank: u8,
        is_indexed: bool,
        result: TexelResult,
    },
    /// One component of the four texels around a point of two dimensions.
    Gather {
        component: Component,
        result: TexelResult,
    },
    /// The texels along a dimension.
    Size(Extent),
    Load(SurfaceAccess),
    Store(SurfaceAccess),
}

/// An access to consecutive values of a surface. The first coordinate counts bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurfaceAccess {
    pub rank: u8,
    pub element: ScalarType,
    pub count: u8,
    pub outside: OutsideSurface,
}

pub(crate) const TABLE: &[Row] = &[
    Row::any("tex", fetch),
    Row::any("tld4", |m| {
        let component = m.required()?;
        if rank(m)? != 2 {
            return Err(m.missing("two dimensions"));
        }
        let (result, ty) = result(m)?;
        m.require_flag("f32", "coordinates of `.f32`")?;
        done(Texture::Gather { component, result }, &[vector(ty), coordinates(2, ScalarType::F32)])
    }),
    Row::any("txq", size),
    Row::any("suq", size),
    Row::any("suld", |m| {
        let (access, ty) = surface(m)?;
        let values = Role::WriteVector { count: access.count, ty, fit: Fit::Exact };
        done(Texture::Load(access), &[values, coordinates(access.rank, ScalarType::S32)])
    }),
    Row::any("sust", |m| {
        let (access, ty) = surface(m)?;
        let values = Role::ReadVector { count: access.count, ty, fit: Fit::Exact };
        done(Texture::Store(access), &[coordinates(access.rank, ScalarType::S32), values])
    }),
];

fn fetch(m: &mut Modifiers<'_>) -> Decoded {
    // All textures have one level, which every level of detail selects.
    let has_level = m.flag("level");
    if !has_level {
        m.flag("base");
    }
    let rank = rank(m)?;
    let (result, ty) = result(m)?;
    let is_indexed = m.flag("s32");
    if !is_indexed {
        m.require_flag("f32", "coordinates of `.f32` or `.s32`")?;
    }
    if is_indexed && rank != 1 {
        return Err(m.missing("one dimension with coordinates of `.s32`"));
    }
    let coordinate = if is_indexed { ScalarType::S32 } else { ScalarType::F32 };
    let level = has_level.then_some(Role::Read(coordinate, Fit::Exact));
    let roles = [vector(ty), coordinates(rank, coordinate)].into_iter().chain(level);
    done(Texture::Fetch { rank, is_indexed, result }, &roles.collect::<Vec<_>>())
}

fn size(m: &mut Modifiers<'_>) -> Decoded {
    let extent = m.required()?;
    m.require_flag("b32", "`.b32`")?;
    let roles = [Role::Write(ScalarType::B32, Fit::Exact), Role::Address(Space::Generic)];
    done(Texture::Size(extent), &roles)
}

/// A surface access and its dimensions, and the vector of its values.
fn surface(m: &mut Modifiers<'_>) -> Result<(SurfaceAccess, ScalarType), Refusal> {
    m.require_flag("b", "`.b`")?;
    let rank = rank(m)?;
    // Cache operators do not change values.
    for cache in ["ca", "cg", "cs", "cv", "wb", "wt"] {
        m.flag(cache);
    }
    let count = match (m.flag("v2"), m.flag("v4")) {
        (true, false) => 2,
        (false, true) => 4,
        _ => 1,
    };
    let element: SurfaceElement = m.required()?;
    let element = ScalarType::from(element);
    // Registers of 16 bits hold a byte.
    let register = if element == ScalarType::B8 { ScalarType::B16 } else { element };
    Ok((SurfaceAccess { rank, element, count, outside: m.required()? }, register))
}

fn rank(m: &mut Modifiers<'_>) -> Result<u8, Refusal> {
    m.parsed("one to three dimensions, `.1d` to `.3d`", |word| {
        let ranks = ["1d", "2d", "3d"];
        ranks.iter().position(|rank| *rank == word).map(|index| index as u8 + 1)
    })
}

fn result(m: &mut Modifiers<'_>) -> Result<(TexelResult, ScalarType), Refusal> {
    m.require_flag("v4", "`.v4`")?;
    // The first of two types; coordinates have the second one.
    let ty: ResultType = m.required()?;
    let result = match ty {
        ResultType::F32 => TexelResult::Float,
        ResultType::S32 | ResultType::U32 => TexelResult::Integer,
    };
    Ok((result, ty.into()))
}

const fn vector(ty: ScalarType) -> Role {
    Role::WriteVector { count: 4, ty, fit: Fit::Exact }
}

/// An object with coordinates, of which three dimensions have a fourth that is ignored.
const fn coordinates(rank: u8, ty: ScalarType) -> Role {
    Role::Coordinates { count: if rank == 3 { 4 } else { rank }, ty }
}

fn done(operation: Texture, roles: &[Role]) -> Decoded {
    Ok((Operation::Texture(operation), Signature::new(roles)))
}
