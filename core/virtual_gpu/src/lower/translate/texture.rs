//! Textures and surfaces.

use super::super::super::isa::scalar::ScalarType;
use super::super::super::isa::texture::{SurfaceAccess, Texture};
use super::super::super::module::{Instruction, Operand};
use super::super::code::{Bank, Code, TextureSite};
use super::super::operands::{NoPlace, Translator, op};

impl Translator<'_> {
    pub(super) fn texture(
        &mut self,
        instruction: &Instruction,
        texture: Texture,
    ) -> Result<(), NoPlace> {
        let (object, coordinates, values) = match (texture, &instruction.operands[..]) {
            (
                Texture::Fetch { .. } | Texture::Gather { .. } | Texture::Load(_),
                [values, Operand::Address(object), coordinates, ..],
            ) => {
                let values = self.result_slots(values, bank(texture))?;
                (object, self.element_slots(coordinates)?, values)
            }
            (Texture::Store(_), [Operand::Address(object), coordinates, values]) => {
                let values = self.element_slots(values)?;
                (object, self.element_slots(coordinates)?, values)
            }
            (Texture::Size(_), [value, Operand::Address(object)]) => {
                (object, (0, 0), self.result_slots(value, Bank::Words)?)
            }
            (
                Texture::Fetch { .. }
                | Texture::Gather { .. }
                | Texture::Load(_)
                | Texture::Store(_)
                | Texture::Size(_),
                _,
            ) => return Err(NoPlace),
        };
        let object = self.address_slot(*object)?;
        let site = self.program.textures.len() as u32;
        self.program.textures.push(TextureSite { texture, object, coordinates, values });
        self.emit(op(Code::Texture { site, is_store: matches!(texture, Texture::Store(_)) }));
        Ok(())
    }

    fn result_slots(&mut self, operand: &Operand, bank: Bank) -> Result<(u32, u8), NoPlace> {
        let mut slots = Vec::new();
        for element in Self::elements(operand) {
            slots.push(self.destination(element, bank)?.0);
        }
        Ok(self.list(&slots))
    }
}

/// The bank of the registers of an instruction.
const fn bank(texture: Texture) -> Bank {
    match texture {
        Texture::Load(SurfaceAccess { element: ScalarType::B64, .. }) => Bank::Doubles,
        Texture::Fetch { .. }
        | Texture::Gather { .. }
        | Texture::Size(_)
        | Texture::Load(_)
        | Texture::Store(_) => Bank::Words,
    }
}
