//! Type expressions to types: names, aliases, template parameters and layouts.

use std::sync::Arc;

use super::Eval;
use crate::model::project::DeclId;
use crate::model::types::{Binding, LayoutBuilder, RecordTy, Ty, builtin_vector, vector_record};
use crate::model::{
    EnumDef, Expr, ExprKind, Name, Path, Record, Scalar, TemplateArg, TemplateParam, TemplateParamKind, TypeExpr,
    TypeKind,
};
use crate::symbolic::value::Local;

const RECORD_DEPTH: u32 = 24;

impl<'p> Eval<'p> {
    pub(super) fn resolve(&mut self, ty: &'p TypeExpr) -> Ty {
        match &ty.kind {
            TypeKind::Builtin(scalar) => Ty::Scalar(*scalar),
            TypeKind::Named(path) => self.resolve_path(path).unwrap_or(Ty::Unknown),
            TypeKind::Pointer(inner) => self.resolve(inner).pointer_to(),
            TypeKind::Reference(inner) => Ty::Reference(Arc::new(self.resolve(inner))),
            TypeKind::Array(inner, length) => {
                let element = self.resolve(inner);
                let length = length.as_ref().and_then(|e| self.constant(e)).and_then(|n| u64::try_from(n).ok());
                Ty::Array(Arc::new(element), length)
            }
            TypeKind::Function(..) => Ty::Function,
            TypeKind::Decltype(e) => {
                self.quiet += 1;
                let value = self.eval(e);
                self.quiet -= 1;
                value.ty()
            }
            TypeKind::Auto | TypeKind::Unknown => Ty::Unknown,
        }
    }

    /// The type a path names, `None` if it names none that is known.
    pub(super) fn resolve_path(&mut self, path: &'p Path) -> Option<Ty> {
        if self.record_depth > RECORD_DEPTH {
            return None;
        }
        self.record_depth += 1;
        let ty = self.resolve_path_inner(path);
        self.record_depth -= 1;
        ty
    }

    fn resolve_path_inner(&mut self, path: &'p Path) -> Option<Ty> {
        let name = path.last();
        if path.segments.len() == 1 {
            if path.last_args().is_none()
                && let Some(ty) = self.local_type(name) {
                    return Some(ty);
                }
        } else if let Some(ty) = self.member_type(path) {
            return Some(ty);
        }
        if let Some(ty) = well_known(name) {
            return Some(ty);
        }
        if let Some(ty) = self.wrapper_type(path) {
            return Some(ty);
        }
        let file = self.file();
        if let Some(id) = self.pick_record(path, file) {
            return Some(self.record_type(id, path.last_args()));
        }
        if let Some(id) =
            self.nearest_in_scope(self.project.aliases_named(name, file), |p, id| &p.alias(id).scope, path)
        {
            let alias = self.project.alias(id);
            let mark = self.bind_template(&alias.template, path.last_args());
            let ty = self.resolve_in(id, &alias.scope, |eval| eval.resolve(&alias.target));
            self.unbind(mark);
            return Some(ty);
        }
        if let Some(id) = self.project.enums_named(name, file).into_iter().next() {
            let underlying = self.project.enumeration(id).underlying.as_ref();
            return Some(underlying.map_or(Ty::INT, |t| self.resolve(t)));
        }
        if let Some((scalar, count, align)) = builtin_vector(name) {
            return Some(Ty::Record(Arc::new(vector_record(name, scalar, count, align))));
        }
        half_like(name)
    }

    /// `T::type`, `Traits<N>::value_type`: an alias or a nested record of a class.
    fn member_type(&mut self, path: &'p Path) -> Option<Ty> {
        let name = path.last();
        let owner = path.segments.get(path.segments.len().checked_sub(2)?)?;
        let file = self.file();
        let class = if path.segments.len() == 2 && owner.args.is_none() { self.local_type(&owner.name) } else { None };
        let class = if let Some(ty) = class { ty } else {
            let id = self.pick_record_named(&owner.name, owner.args.as_deref(), file)?;
            self.record_type(id, owner.args.as_deref())
        };
        let record = class.as_record()?.clone();
        let (unit, index) = record.declared?;
        let id = DeclId { file: crate::source::FileId(unit), index };
        let declared = self.project.record(id);
        let alias = declared.aliases.iter().find(|a| a.name == *name)?;
        let mark = self.bindings_len();
        self.push_bindings(&record.bindings);
        let ty = self.resolve_in(id, &declared.scope, |eval| eval.resolve(&alias.target));
        self.unbind(mark);
        Some(ty)
    }

    fn local_type(&mut self, name: &Name) -> Option<Ty> {
        let frame = self.frame()?;
        for (n, local) in frame.locals.iter().rev() {
            if n == name {
                return match local {
                    Local::Type(ty) => Some(ty.clone()),
                    _ => None,
                };
            }
        }
        for (n, binding) in frame.bindings.iter().rev() {
            if n == name {
                return match binding {
                    Binding::Type(ty) => Some(ty.clone()),
                    _ => None,
                };
            }
        }
        let class = frame.class.clone()?;
        if class.name == *name {
            return Some(Ty::Record(class));
        }
        let (unit, index) = class.declared?;
        let declared = self.project.record(DeclId { file: crate::source::FileId(unit), index });
        let alias = declared.aliases.iter().find(|a| a.name == *name)?;
        let mark = self.bindings_len();
        self.push_bindings(&class.bindings);
        let ty = self.resolve(&alias.target);
        self.unbind(mark);
        Some(ty)
    }

    /// Library class templates that are their argument as far as layout goes.
    fn wrapper_type(&mut self, path: &'p Path) -> Option<Ty> {
        let args = path.last_args()?;
        let first = match args.first()? {
            TemplateArg::Type(t) => Some(t),
            TemplateArg::Value(_) => None,
        };
        match path.last().as_str() {
            "complex" => {
                let element = self.resolve(first?);
                let size = element.size()?;
                let mut layout = LayoutBuilder::new(false, false);
                layout.push(Name::new_static("re"), element.clone(), 0);
                layout.push(Name::new_static("im"), element, 0);
                let (fields, size, align, is_complete) = layout.finish(size * 2);
                Some(Ty::Record(Arc::new(RecordTy {
                    name: "complex".into(),
                    instance: "complex".into(),
                    size,
                    align,
                    fields,
                    is_complete,
                    is_builtin_vector: false,
                    declared: None,
                    bindings: Vec::new(),
                })))
            }
            "array" => {
                let element = self.resolve(first?);
                let n = match args.get(1)? {
                    TemplateArg::Value(e) => self.constant(e)?,
                    TemplateArg::Type(t) => self.type_as_value(t)?,
                };
                Some(Ty::Array(Arc::new(element), u64::try_from(n).ok()))
            }
            "atomic" | "atomic_ref" | "remove_reference_t" | "remove_cv_t" | "decay_t" | "remove_const_t"
            | "make_unsigned_t" => Some(self.resolve(first?).value_type().clone()),
            "conditional_t" => {
                let condition = match args.first()? {
                    TemplateArg::Value(e) => self.constant(e)?,
                    TemplateArg::Type(t) => self.type_as_value(t)?,
                };
                match args.get(if condition != 0 { 1 } else { 2 })? {
                    TemplateArg::Type(t) => Some(self.resolve(t)),
                    TemplateArg::Value(_) => None,
                }
            }
            _ => None,
        }
    }

    fn pick_record(&mut self, path: &'p Path, file: crate::source::FileId) -> Option<DeclId> {
        self.pick_record_named(path.last(), path.last_args(), file)
    }

    /// The record of this name; a specialisation that fits the arguments goes before the primary template.
    fn pick_record_named(
        &mut self,
        name: &Name,
        args: Option<&'p [TemplateArg]>,
        file: crate::source::FileId,
    ) -> Option<DeclId> {
        let candidates = self.project.records_named(name, file);
        let mut primary = None;
        for id in &candidates {
            let record = self.project.record(*id);
            match (&record.specialisation, args) {
                (Some(special), Some(args)) if record.template.is_empty() => {
                    if self.arguments_equal(special, args) {
                        return Some(*id);
                    }
                }
                (Some(_), _) => {}
                (None, _) => {
                    let is_better = primary.is_none_or(|p: DeclId| {
                        let old = self.project.record(p);
                        old.fields.is_empty() && !record.fields.is_empty()
                    });
                    if is_better {
                        primary = Some(*id);
                    }
                }
            }
        }
        primary
    }

    fn arguments_equal(&mut self, a: &'p [TemplateArg], b: &'p [TemplateArg]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| self.template_argument(x) == self.template_argument(y))
    }

    /// The declaration whose namespaces fit the path best.
    pub(super) fn nearest_in_scope(
        &self,
        ids: Vec<DeclId>,
        scope: impl Fn(&'p crate::model::project::Project, DeclId) -> &'p Vec<Name>,
        path: &Path,
    ) -> Option<DeclId> {
        let qualifiers: Vec<&Name> = path.segments.iter().rev().skip(1).map(|s| &s.name).collect();
        let here: &[Name] = self.frame().map_or(&[], |f| f.scope);
        ids.into_iter().max_by_key(|id| {
            let scope = scope(self.project, *id);
            let qualified = scope.iter().rev().zip(&qualifiers).take_while(|(a, b)| a == *b).count();
            let common = scope.iter().zip(here).take_while(|(a, b)| a == b).count();
            (qualified, common)
        })
    }

    /// The layout of a declared record for these template arguments.
    pub(super) fn record_type(&mut self, id: DeclId, args: Option<&'p [TemplateArg]>) -> Ty {
        let record = self.project.record(id);
        let mark = self.bind_template(&record.template, args);
        let bindings: Vec<(Name, Binding)> = self.frame().map(|f| f.bindings[mark..].to_vec()).unwrap_or_default();
        let key = (id, instance_name(&record.name, &bindings));
        let ty = match self.record_types.get(&key) {
            Some(Some(known)) => Ty::Record(known.clone()),
            // A class that holds pointers to itself: completed once it is looked into.
            Some(None) => Ty::Record(Arc::new(RecordTy {
                name: record.name.clone(),
                instance: key.1,
                size: 0,
                align: 1,
                fields: Vec::new(),
                is_complete: false,
                is_builtin_vector: false,
                declared: Some((id.file.0, id.index)),
                bindings,
            })),
            None => {
                self.record_types.insert(key.clone(), None);
                let ty = self.layout(id, record, bindings);
                self.record_types.insert(key, ty.as_record().cloned());
                ty
            }
        };
        self.unbind(mark);
        ty
    }

    /// A class that was still open when its name was met, with its layout.
    pub(super) fn completed(&self, ty: Ty) -> Ty {
        let Ty::Record(record) = &ty else { return ty };
        let Some((file, index)) = record.declared.filter(|_| !record.is_complete) else { return ty };
        let key = (DeclId { file: crate::source::FileId(file), index }, record.instance.clone());
        match self.record_types.get(&key) {
            Some(Some(known)) => Ty::Record(known.clone()),
            _ => ty,
        }
    }

    fn layout(&mut self, id: DeclId, record: &'p Record, bindings: Vec<(Name, Binding)>) -> Ty {
        let ty = self.resolve_in(id, &record.scope, |eval| {
            let mut layout = LayoutBuilder::new(record.is_union, record.is_packed);
            for base in &record.bases {
                let ty = eval.resolve(base);
                // An empty base takes no room.
                if ty.as_record().is_some_and(|r| r.fields.is_empty()) {
                    continue;
                }
                layout.push(Name::default(), ty, 0);
            }
            for field in &record.fields {
                let ty = eval.resolve(&field.ty);
                let align = field.align.as_ref().and_then(|e| eval.constant(e)).unwrap_or(0);
                layout.push(field.name.clone(), ty, u64::try_from(align).unwrap_or(0));
            }
            let align = record.align.as_ref().and_then(|e| eval.constant(e)).unwrap_or(0);
            layout.finish(u64::try_from(align).unwrap_or(0))
        });
        let (fields, size, align, is_complete) = ty;
        Ty::Record(Arc::new(RecordTy {
            name: record.name.clone(),
            instance: instance_name(&record.name, &bindings),
            size,
            align,
            fields,
            is_complete,
            is_builtin_vector: false,
            declared: Some((id.file.0, id.index)),
            bindings,
        }))
    }

    /// Runs `f` with names looked up from where a declaration stands.
    pub(super) fn resolve_in<T>(&mut self, id: DeclId, scope: &'p [Name], f: impl FnOnce(&mut Self) -> T) -> T {
        let Some(frame) = self.frames.last_mut() else { return f(self) };
        let old = (std::mem::replace(&mut frame.file, id.file), std::mem::replace(&mut frame.scope, scope));
        // A declaration outside of functions does not see the locals of the function that uses it.
        let hide = std::mem::take(&mut frame.locals);
        let out = f(self);
        if let Some(frame) = self.frames.last_mut() {
            frame.file = old.0;
            frame.scope = old.1;
            frame.locals = hide;
        }
        out
    }

    pub(super) fn bindings_len(&self) -> usize {
        self.frame().map_or(0, |f| f.bindings.len())
    }

    pub(super) fn push_bindings(&mut self, bindings: &[(Name, Binding)]) {
        if let Some(frame) = self.frames.last_mut() {
            frame.bindings.extend(bindings.iter().cloned());
        }
    }

    pub(super) fn unbind(&mut self, mark: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.bindings.truncate(mark);
        }
    }

    /// Binds template parameters to arguments or defaults; returns the mark for `unbind`.
    pub(super) fn bind_template(&mut self, params: &'p [TemplateParam], args: Option<&'p [TemplateArg]>) -> usize {
        let mark = self.bindings_len();
        // Arguments are looked up outside, before any parameter is bound.
        let given: Vec<Binding> = args.unwrap_or(&[]).iter().map(|a| self.template_argument(a)).collect();
        self.bind_values(params, &given);
        mark
    }

    pub(super) fn bind_values(&mut self, params: &'p [TemplateParam], given: &[Binding]) {
        let mut rest = given.iter();
        for param in params {
            let binding = if param.is_pack {
                Binding::Pack(rest.by_ref().cloned().collect())
            } else if let Some(b) = rest.next() {
                self.fit_binding(param, b.clone())
            } else {
                match &param.kind {
                    TemplateParamKind::Type { default: Some(t) } => Binding::Type(self.resolve(t)),
                    TemplateParamKind::Value { default: Some(e), .. } => {
                        self.constant(e).map_or(Binding::Unknown, Binding::Value)
                    }
                    _ => Binding::Unknown,
                }
            };
            self.push_bindings(&[(param.name.clone(), binding)]);
        }
    }

    fn fit_binding(&mut self, param: &TemplateParam, binding: Binding) -> Binding {
        match (&param.kind, binding) {
            (TemplateParamKind::Value { .. }, Binding::Type(_)) => Binding::Unknown,
            (_, other) => other,
        }
    }

    pub(super) fn template_argument(&mut self, arg: &'p TemplateArg) -> Binding {
        match arg {
            TemplateArg::Value(e) => match self.constant(e) {
                Some(v) => Binding::Value(v),
                None => match &e.kind {
                    ExprKind::Name(path) => self.name_as_function(path),
                    ExprKind::Unary { operand, .. } => match &operand.kind {
                        ExprKind::Name(path) => self.name_as_function(path),
                        _ => Binding::Unknown,
                    },
                    _ => Binding::Unknown,
                },
            },
            TemplateArg::Type(t) => {
                if let TypeKind::Named(path) = &t.kind {
                    if let Some(name) = path.as_simple()
                        && let Some(b) = self.frame().and_then(|f| f.bindings.iter().rev().find(|(n, _)| n == name)) {
                            return b.1.clone();
                        }
                    if let Some(v) = self.type_as_value(t) {
                        return Binding::Value(v);
                    }
                    if let Some(ty) = self.resolve_path(path) {
                        return Binding::Type(ty);
                    }
                    return self.name_as_function(path);
                }
                Binding::Type(self.resolve(t))
            }
        }
    }

    fn name_as_function(&self, path: &Path) -> Binding {
        if self.project.functions_named(path.last(), self.file()).is_empty() {
            Binding::Unknown
        } else {
            Binding::Function(path.last().clone())
        }
    }

    /// A template argument that looks like a type but names a constant.
    pub(super) fn type_as_value(&mut self, ty: &'p TypeExpr) -> Option<i64> {
        match &ty.kind {
            TypeKind::Named(path) => {
                self.quiet += 1;
                let value = self.name_value(path, ty.span);
                self.quiet -= 1;
                value.and_then(|v| v.as_constant())
            }
            _ => None,
        }
    }

    pub(super) fn vector_type(&self, name: &str) -> Ty {
        if name == "dim3" {
            return Ty::Record(Arc::new(vector_record("dim3", Scalar::UInt, 3, 4)));
        }
        match builtin_vector(name) {
            Some((scalar, count, align)) => Ty::Record(Arc::new(vector_record(name, scalar, count, align))),
            None => Ty::Unknown,
        }
    }

    /// The value of an enumerator.
    pub(super) fn enumerator(&mut self, definition: &'p EnumDef, position: usize) -> Option<i64> {
        let mut value = -1;
        for (_, expr) in definition.values.iter().take(position + 1) {
            value = match expr {
                Some(e) => self.constant(e)?,
                None => value + 1,
            };
        }
        Some(value)
    }

    /// The type a `sizeof` or cast operand that parsed as an expression really names.
    pub(super) fn expr_as_type(&mut self, expr: &'p Expr) -> Option<Ty> {
        match &expr.kind {
            ExprKind::Name(path) => {
                if path.as_simple().is_some_and(|n| self.is_variable(n)) {
                    return None;
                }
                self.resolve_path(path)
            }
            _ => None,
        }
    }
}

fn instance_name(name: &Name, bindings: &[(Name, Binding)]) -> Name {
    if bindings.is_empty() {
        return name.clone();
    }
    let args: Vec<String> = bindings.iter().map(|(_, b)| binding_text(b)).collect();
    format!("{name}<{}>", args.join(", ")).into()
}

pub fn binding_text(binding: &Binding) -> String {
    match binding {
        Binding::Type(ty) => ty.text(),
        Binding::Value(v) => v.to_string(),
        Binding::Pack(list) => list.iter().map(binding_text).collect::<Vec<_>>().join(", "),
        Binding::Function(name) => name.to_string(),
        Binding::Unknown => "?".into(),
    }
}

/// Types of the C and C++ libraries and of CUDA's headers that are one scalar.
fn well_known(name: &str) -> Option<Ty> {
    let scalar = match name {
        "size_t"
        | "uint64_t"
        | "u_int64_t"
        | "ulong"
        | "uint64"
        | "uintptr_t"
        | "CUdeviceptr"
        | "cudaTextureObject_t"
        | "cudaSurfaceObject_t"
        | "uint_fast64_t" => Scalar::ULong,
        "ptrdiff_t" | "ssize_t" | "int64_t" | "intptr_t" | "clock_t" | "time_t" | "off_t" | "int64" => Scalar::Long,
        "uint32_t" | "uint" | "u_int32_t" | "uint_least32_t" | "unsigned" => Scalar::UInt,
        "int32_t" | "int_least32_t" | "cudaError_t" => Scalar::Int,
        "uint16_t" | "ushort" | "u_int16_t" => Scalar::UShort,
        "int16_t" => Scalar::Short,
        "uint8_t" | "uchar" | "u_int8_t" | "byte" => Scalar::UChar,
        "int8_t" => Scalar::SChar,
        "float_t" => Scalar::Float,
        "double_t" => Scalar::Double,
        _ => return None,
    };
    Some(Ty::Scalar(scalar))
}

/// Half-precision types: opaque scalars of two bytes, their pairs four.
fn half_like(name: &str) -> Option<Ty> {
    let (size, align) = match name {
        "half" | "__half" | "nv_bfloat16" | "__nv_bfloat16" | "bfloat16" | "half_t" | "bfloat16_t" => (2, 2),
        "half2" | "__half2" | "nv_bfloat162" | "__nv_bfloat162" => (4, 4),
        "__nv_fp8_e4m3" | "__nv_fp8_e5m2" => (1, 1),
        "cuFloatComplex" | "cuComplex" | "cufftComplex" => return Some(complex("cuFloatComplex", Scalar::Float)),
        "cuDoubleComplex" | "cufftDoubleComplex" => return Some(complex("cuDoubleComplex", Scalar::Double)),
        "dim3" => return Some(Ty::Record(Arc::new(vector_record("dim3", Scalar::UInt, 3, 4)))),
        _ => return None,
    };
    Some(Ty::Record(Arc::new(RecordTy {
        name: name.into(),
        instance: name.into(),
        size,
        align,
        fields: Vec::new(),
        is_complete: true,
        is_builtin_vector: true,
        declared: None,
        bindings: Vec::new(),
    })))
}

fn complex(name: &str, element: Scalar) -> Ty {
    Ty::Record(Arc::new(vector_record(name, element, 2, element.size() * 2)))
}
