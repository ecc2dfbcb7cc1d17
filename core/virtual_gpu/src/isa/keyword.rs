//! Closed sets of modifiers. Each member is declared once, with its PTX keyword.

/// A set of modifiers of which an instruction takes at most one.
pub trait Keyword: Copy + Sized + 'static {
    /// Every member with its PTX keyword, without the dot.
    const ALL: &'static [(&'static str, Self)];
    /// A description of the set for messages: "a rounding mode".
    const WHAT: &'static str;

    /// The PTX keyword of the member, without the dot.
    fn spelling(self) -> &'static str;

    /// The member with this PTX keyword.
    #[must_use]
    fn from_spelling(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(spelling, _)| *spelling == word).map(|(_, member)| *member)
    }
}

/// Declares an enum whose members are modifiers.
macro_rules! keywords {
    ($(#[$meta:meta])* $name:ident: $what:literal { $($member:ident = $spelling:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[doc = concat!("`.", $spelling, "`")] $member,)+
        }

        impl $crate::isa::keyword::Keyword for $name {
            const ALL: &'static [(&'static str, Self)] = &[$(($spelling, Self::$member)),+];
            const WHAT: &'static str = $what;

            fn spelling(self) -> &'static str {
                match self {
                    $(Self::$member => $spelling,)+
                }
            }
        }
    };
}

/// Declares a subset of the scalar types, for instructions that accept only these.
macro_rules! scalar_subset {
    ($(#[$meta:meta])* $name:ident: $what:literal { $($member:ident),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[doc = concat!("[`ScalarType::", stringify!($member), "`](crate::isa::scalar::ScalarType::", stringify!($member), ")")] $member,)+
        }

        impl $crate::isa::keyword::Keyword for $name {
            const ALL: &'static [(&'static str, Self)] = &[
                $(($crate::isa::scalar::ScalarType::$member.word(), Self::$member)),+
            ];
            const WHAT: &'static str = $what;

            fn spelling(self) -> &'static str {
                $crate::isa::scalar::ScalarType::from(self).word()
            }
        }

        impl From<$name> for $crate::isa::scalar::ScalarType {
            fn from(ty: $name) -> Self {
                match ty {
                    $($name::$member => Self::$member,)+
                }
            }
        }

        impl $name {
            /// The types of this subset.
            #[allow(dead_code, reason = "only subsets that select among families need it")]
            pub(crate) const SCALARS: &'static [$crate::isa::scalar::ScalarType] =
                &[$($crate::isa::scalar::ScalarType::$member),+];
        }
    };
}

pub(crate) use {keywords, scalar_subset};
