//! Resolved types with their size, alignment and layout on the GPU (the 64-bit Itanium ABI, which nvcc shares with the host).

use std::sync::Arc;

use super::ast::{Name, Scalar};

/// A type after names, templates and constants are resolved.
#[derive(Debug, Clone, PartialEq)]
pub enum Ty {
    Scalar(Scalar),
    Pointer(Arc<Ty>),
    Reference(Arc<Ty>),
    /// Length `None` where unknown (`extern __shared__ T s[]`, a dependent length).
    Array(Arc<Ty>, Option<u64>),
    Record(Arc<RecordTy>),
    Function,
    Unknown,
}

/// A class with its layout, or a CUDA vector type. Two are equal if they are the same declaration with the same arguments.
#[derive(Debug, Clone)]
pub struct RecordTy {
    pub name: Name,
    /// Template arguments as text, so that instances differ: `Pair<int>`.
    pub instance: Name,
    pub size: u64,
    pub align: u64,
    pub fields: Vec<FieldTy>,
    /// Size and offsets are known: no member of unknown type.
    pub is_complete: bool,
    /// `int2`, `float4` and kin: the compiler moves them whole.
    pub is_builtin_vector: bool,
    /// Index of the declaration in the project's records; `None` for builtin types.
    pub declared: Option<(u32, u32)>,
    /// Values of its template parameters.
    pub bindings: Vec<(Name, Binding)>,
}

impl PartialEq for RecordTy {
    fn eq(&self, other: &Self) -> bool {
        self.declared == other.declared && self.instance == other.instance && self.size == other.size
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct FieldTy {
    /// Empty for a base class or an anonymous member: its fields are found through it.
    pub name: Name,
    pub offset: u64,
    pub ty: Ty,
}

/// What a template parameter stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Binding {
    Type(Ty),
    Value(i64),
    Pack(Vec<Binding>),
    /// A function or a lambda given as argument, by name.
    Function(Name),
    Unknown,
}

impl Scalar {
    /// Bytes; 1 for `void`, as in pointer arithmetic of GNU C.
    pub fn size(self) -> u64 {
        match self {
            Self::Void | Self::Bool | Self::Char | Self::SChar | Self::UChar => 1,
            Self::Short | Self::UShort => 2,
            Self::Int | Self::UInt | Self::Float => 4,
            Self::Long | Self::ULong | Self::LongLong | Self::ULongLong | Self::Double => 8,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::Double)
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Self::Char | Self::SChar | Self::Short | Self::Int | Self::Long | Self::LongLong)
    }

    /// Inclusive range of an integer type, clamped to what a 62-bit analysis can hold.
    pub fn range(self) -> (i64, i64) {
        let limit = i64::MAX / 4;
        match self {
            Self::Bool => (0, 1),
            Self::UChar => (0, 255),
            Self::Char | Self::SChar => (-128, 127),
            Self::UShort => (0, 65_535),
            Self::Short => (-32_768, 32_767),
            Self::UInt => (0, u32::MAX as i64),
            Self::Int => (i32::MIN as i64, i32::MAX as i64),
            Self::ULong | Self::ULongLong => (0, limit),
            _ => (-limit, limit),
        }
    }

    /// The type after integral promotion.
    #[must_use]
    pub fn promoted(self) -> Self {
        match self {
            Self::Bool | Self::Char | Self::SChar | Self::UChar | Self::Short | Self::UShort => Self::Int,
            other => other,
        }
    }

    /// The usual arithmetic conversions.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        let (a, b) = (self.promoted(), other.promoted());
        if a == Self::Double || b == Self::Double {
            return Self::Double;
        }
        if a == Self::Float || b == Self::Float {
            return Self::Float;
        }
        let rank = |s: Self| (s.size(), u8::from(!s.is_signed()));
        if rank(a) >= rank(b) { a } else { b }
    }
}

impl Ty {
    pub const INT: Self = Self::Scalar(Scalar::Int);
    pub const UINT: Self = Self::Scalar(Scalar::UInt);
    pub const FLOAT: Self = Self::Scalar(Scalar::Float);
    pub const DOUBLE: Self = Self::Scalar(Scalar::Double);

    /// Bytes; `None` where a part is unknown.
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::Scalar(s) => Some(s.size()),
            Self::Pointer(_) | Self::Reference(_) => Some(8),
            Self::Array(element, length) => element.size()?.checked_mul((*length)?),
            Self::Record(r) => r.is_complete.then_some(r.size),
            Self::Function | Self::Unknown => None,
        }
    }

    pub fn align(&self) -> u64 {
        match self {
            Self::Scalar(s) => s.size(),
            Self::Pointer(_) | Self::Reference(_) => 8,
            Self::Array(element, _) => element.align(),
            Self::Record(r) => r.align.max(1),
            Self::Function | Self::Unknown => 1,
        }
    }

    #[must_use]
    pub fn pointer_to(self) -> Self {
        Self::Pointer(Arc::new(self))
    }

    /// Without the reference.
    #[must_use]
    pub fn value_type(&self) -> &Self {
        match self {
            Self::Reference(inner) => inner.value_type(),
            other => other,
        }
    }

    /// What a pointer or array points to.
    pub fn pointee(&self) -> Option<&Self> {
        match self.value_type() {
            Self::Pointer(inner) | Self::Array(inner, _) => Some(inner),
            _ => None,
        }
    }

    pub fn as_scalar(&self) -> Option<Scalar> {
        match self.value_type() {
            Self::Scalar(s) => Some(*s),
            _ => None,
        }
    }

    pub fn is_float(&self) -> bool {
        self.as_scalar().is_some_and(Scalar::is_float)
    }

    pub fn as_record(&self) -> Option<&Arc<RecordTy>> {
        match self.value_type() {
            Self::Record(r) => Some(r),
            _ => None,
        }
    }

    /// A short name for messages and instance names.
    pub fn text(&self) -> String {
        match self {
            Self::Scalar(s) => scalar_text(*s).to_owned(),
            Self::Pointer(inner) => format!("{}*", inner.text()),
            Self::Reference(inner) => format!("{}&", inner.text()),
            Self::Array(inner, Some(n)) => format!("{}[{n}]", inner.text()),
            Self::Array(inner, None) => format!("{}[]", inner.text()),
            Self::Record(r) => r.instance.to_string(),
            Self::Function => "function".into(),
            Self::Unknown => "?".into(),
        }
    }
}

fn scalar_text(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Void => "void",
        Scalar::Bool => "bool",
        Scalar::Char => "char",
        Scalar::SChar => "signed char",
        Scalar::UChar => "unsigned char",
        Scalar::Short => "short",
        Scalar::UShort => "unsigned short",
        Scalar::Int => "int",
        Scalar::UInt => "unsigned int",
        Scalar::Long => "long",
        Scalar::ULong => "unsigned long",
        Scalar::LongLong => "long long",
        Scalar::ULongLong => "unsigned long long",
        Scalar::Float => "float",
        Scalar::Double => "double",
    }
}

impl RecordTy {
    /// A field by name, looked for through bases and anonymous members: offset and type.
    pub fn field(&self, name: &str) -> Option<(u64, Ty)> {
        for field in &self.fields {
            if field.name == name {
                return Some((field.offset, field.ty.clone()));
            }
        }
        for field in self.fields.iter().filter(|f| f.name.is_empty()) {
            if let Some((offset, ty)) = field.ty.as_record().and_then(|r| r.field(name)) {
                return Some((field.offset + offset, ty));
            }
        }
        None
    }

    /// Fields whose scalars make up the record, as (offset, type), nested records and arrays taken apart.
    pub fn scalars(&self) -> Vec<(u64, Ty)> {
        let mut out = Vec::new();
        for field in &self.fields {
            flatten(field.offset, &field.ty, &mut out);
        }
        out
    }
}

/// Takes a type apart into scalars and pointers; stops at 256 parts.
pub fn flatten(offset: u64, ty: &Ty, out: &mut Vec<(u64, Ty)>) {
    if out.len() > 256 {
        return;
    }
    match ty {
        Ty::Record(r) => r.fields.iter().for_each(|f| flatten(offset + f.offset, &f.ty, out)),
        Ty::Array(element, Some(n)) => {
            let size = element.size().unwrap_or(0);
            (0..(*n).min(256)).for_each(|i| flatten(offset + i * size, element, out));
        }
        other => out.push((offset, other.clone())),
    }
}

/// Lays fields out in order: offset of each, then size and alignment of the whole.
#[derive(Debug, Default)]
pub struct LayoutBuilder {
    pub fields: Vec<FieldTy>,
    size: u64,
    align: u64,
    is_union: bool,
    is_packed: bool,
    is_incomplete: bool,
}

impl LayoutBuilder {
    pub fn new(is_union: bool, is_packed: bool) -> Self {
        Self { align: 1, is_union, is_packed, ..Self::default() }
    }

    /// Appends a field; `align` of 0 means the type's own.
    pub fn push(&mut self, name: Name, ty: Ty, align: u64) {
        let natural = if self.is_packed { 1 } else { ty.align() };
        let align = natural.max(align).max(1);
        let offset = if self.is_union { 0 } else { self.size.next_multiple_of(align) };
        let size = ty.size().unwrap_or_else(|| {
            self.is_incomplete = true;
            0
        });
        self.size = self.size.max(offset + size);
        self.align = self.align.max(align);
        self.fields.push(FieldTy { name, offset, ty });
    }

    /// Size, alignment, completeness. `align` of 0 means natural.
    pub fn finish(self, align: u64) -> (Vec<FieldTy>, u64, u64, bool) {
        let align = self.align.max(align).max(1);
        // An empty class has one byte.
        (self.fields, self.size.max(1).next_multiple_of(align), align, !self.is_incomplete)
    }
}

/// CUDA's vector types (`vector_types.h`): element and count behind a name such as `float4`, with the alignment in bytes.
pub fn builtin_vector(name: &str) -> Option<(Scalar, u64, u64)> {
    let digit = name.chars().last()?.to_digit(10)?;
    if !(1..=4).contains(&digit) {
        return None;
    }
    let element = match name.get(..name.len() - 1)? {
        "char" => Scalar::SChar,
        "uchar" => Scalar::UChar,
        "short" => Scalar::Short,
        "ushort" => Scalar::UShort,
        "int" => Scalar::Int,
        "uint" => Scalar::UInt,
        "long" => Scalar::Long,
        "ulong" => Scalar::ULong,
        "longlong" => Scalar::LongLong,
        "ulonglong" => Scalar::ULongLong,
        "float" => Scalar::Float,
        "double" => Scalar::Double,
        _ => return None,
    };
    let count = u64::from(digit);
    let align = if count == 3 { element.size() } else { (element.size() * count).min(16) };
    Some((element, count, align))
}

/// The record of a builtin vector type.
pub fn vector_record(name: &str, element: Scalar, count: u64, align: u64) -> RecordTy {
    let mut layout = LayoutBuilder::new(false, false);
    for field in ["x", "y", "z", "w"].into_iter().take(count as usize) {
        layout.push(Name::new_static(field), Ty::Scalar(element), 0);
    }
    let (fields, size, align, is_complete) = layout.finish(align);
    RecordTy {
        name: name.into(),
        instance: name.into(),
        size,
        align,
        fields,
        is_complete,
        is_builtin_vector: true,
        declared: None,
        bindings: Vec::new(),
    }
}
