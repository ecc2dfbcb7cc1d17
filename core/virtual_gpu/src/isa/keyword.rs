//! Closed sets of modifiers, each declared once with the word that PTX uses for each member.

/// A set of modifiers of which an instruction takes one.
pub trait Keyword: Copy + Sized + 'static {
    /// Every member with its spelling, without the dot.
    const ALL: &'static [(&'static str, Self)];
    /// What a member is, for messages: "a rounding mode".
    const WHAT: &'static str;

    /// The member's spelling, without the dot.
    fn spelling(self) -> &'static str;

    /// The member that is spelt so.
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

/// Declares a subset of the scalar types, for instructions that take only these.
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
            /// The types that an instruction with this subset takes.
            #[allow(dead_code, reason = "only subsets that select among families need it")]
            pub(crate) const SCALARS: &'static [$crate::isa::scalar::ScalarType] =
                &[$($crate::isa::scalar::ScalarType::$member),+];
        }
    };
}

pub(crate) use {keywords, scalar_subset};
