//! A unit as text: compact, stable, close to C++ where C++ is unambiguous. Tests compare it.

use std::fmt::Write;

use super::ast::{
    Alias, BinaryOp, CastStyle, EnumDef, Expr, ExprKind, Field, FloatSuffix, Function, FunctionQuals, Init, Lambda,
    Name, Param, Path, PathSegment, Record, Scalar, Stmt, StmtKind, TemplateArg, TemplateParam, TemplateParamKind,
    TypeExpr, TypeKind, UnaryOp, Unit, Unroll, VarDecl, VarQuals,
};

/// The text form of a unit: one item or statement per line, blocks indented.
pub fn dump(unit: &Unit) -> String {
    let mut out = Printer::default();
    out.unit(unit);
    out.text
}

/// The text form of one expression.
pub fn dump_expr(expr: &Expr) -> String {
    let mut out = Printer::default();
    out.expr(expr);
    out.text
}

/// The text form of one type.
pub fn dump_type(ty: &TypeExpr) -> String {
    let mut out = Printer::default();
    out.ty(ty);
    out.text
}

#[derive(Default)]
struct Printer {
    text: String,
    indent: usize,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn line(&mut self, write: impl FnOnce(&mut Self)) {
        for _ in 0..self.indent {
            self.put("  ");
        }
        write(self);
        self.put("\n");
    }

    fn indented(&mut self, write: impl FnOnce(&mut Self)) {
        self.indent += 1;
        write(self);
        self.indent -= 1;
    }

    fn separated<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            write(self, item);
        }
    }

    fn unit(&mut self, unit: &Unit) {
        for path in &unit.using_namespaces {
            self.line(|p| {
                p.put("using namespace ");
                p.path(path);
            });
        }
        for alias in &unit.aliases {
            self.alias(alias);
        }
        for def in &unit.enums {
            self.enumeration(def);
        }
        for record in &unit.records {
            self.record(record);
        }
        for global in &unit.globals {
            self.line(|p| {
                p.put("global ");
                p.scope(&global.scope);
                p.variable(&global.decl);
            });
        }
        for function in &unit.functions {
            self.function(function);
        }
        for gap in &unit.gaps {
            self.line(|p| {
                let function = gap.function.as_deref().unwrap_or("the file");
                let _ = write!(p.text, "gap in {function}: {}", gap.why);
            });
        }
    }

    fn scope(&mut self, scope: &[Name]) {
        for name in scope {
            self.put(if name.is_empty() { "<anonymous>" } else { name });
            self.put("::");
        }
    }

    fn function(&mut self, function: &Function) {
        self.line(|p| {
            if !function.class_template.is_empty() {
                p.put("class ");
                p.template(&function.class_template);
            }
            p.template(&function.template);
            p.function_quals(function.quals);
            if !function.launch_bounds.is_empty() {
                p.put("launch_bounds(");
                p.separated(&function.launch_bounds, Self::expr);
                p.put(") ");
            }
            p.ty(&function.returns);
            p.put(" ");
            p.scope(&function.scope);
            p.put(&function.name);
            p.template_args(function.specialisation.as_deref());
            p.params(&function.params, function.quals.is_variadic);
            if let Some(class) = &function.class {
                let _ = write!(p.text, " of {class}");
            }
            for (i, (name, init)) in function.member_inits.iter().enumerate() {
                p.put(if i == 0 { " : " } else { ", " });
                p.put(name);
                p.init(init);
            }
            if function.body.is_none() {
                p.put(";");
            }
        });
        if let Some(body) = &function.body {
            self.indented(|p| p.stmts(body));
        }
    }

    fn function_quals(&mut self, quals: FunctionQuals) {
        let words = [
            (quals.is_global, "__global__ "),
            (quals.is_host, "__host__ "),
            (quals.is_device, "__device__ "),
            (quals.is_static, "static "),
            (quals.is_inline, "inline "),
            (quals.is_constexpr, "constexpr "),
            (quals.is_forceinline, "__forceinline__ "),
            (quals.is_noinline, "__noinline__ "),
        ];
        for (_, word) in words.iter().filter(|(on, _)| *on) {
            self.put(word);
        }
    }

    fn variable_quals(&mut self, quals: VarQuals) {
        let words = [
            (quals.is_extern, "extern "),
            (quals.is_static, "static "),
            (quals.is_constexpr, "constexpr "),
            (quals.is_shared, "__shared__ "),
            (quals.is_constant, "__constant__ "),
            (quals.is_device, "__device__ "),
            (quals.is_managed, "__managed__ "),
        ];
        for (_, word) in words.iter().filter(|(on, _)| *on) {
            self.put(word);
        }
    }

    fn params(&mut self, params: &[Param], is_variadic: bool) {
        self.put("(");
        self.separated(params, |p, param| {
            p.ty(&param.ty);
            if param.is_pack {
                p.put("...");
            }
            if !param.name.is_empty() {
                let _ = write!(p.text, " {}", param.name);
            }
            if let Some(default) = &param.default {
                p.put(" = ");
                p.expr(default);
            }
        });
        if is_variadic {
            self.put(if params.is_empty() { "..." } else { ", ..." });
        }
        self.put(")");
    }

    fn template(&mut self, params: &[TemplateParam]) {
        if params.is_empty() {
            return;
        }
        self.put("template <");
        self.separated(params, |p, param| {
            let dots = if param.is_pack { "..." } else { "" };
            match &param.kind {
                TemplateParamKind::Type { default } => {
                    let _ = write!(p.text, "typename{dots} {}", param.name);
                    if let Some(default) = default {
                        p.put(" = ");
                        p.ty(default);
                    }
                }
                TemplateParamKind::Value { ty, default } => {
                    p.ty(ty);
                    let _ = write!(p.text, "{dots} {}", param.name);
                    if let Some(default) = default {
                        p.put(" = ");
                        p.expr(default);
                    }
                }
                TemplateParamKind::Template => {
                    let _ = write!(p.text, "template{dots} {}", param.name);
                }
            }
        });
        self.put("> ");
    }

    fn record(&mut self, record: &Record) {
        self.line(|p| {
            p.template(&record.template);
            p.put(if record.is_union { "union " } else { "struct " });
            p.scope(&record.scope);
            p.put(&record.name);
            p.template_args(record.specialisation.as_deref());
            if let Some(align) = &record.align {
                p.put(" align(");
                p.expr(align);
                p.put(")");
            }
            if record.is_packed {
                p.put(" packed");
            }
            if !record.bases.is_empty() {
                p.put(" : ");
                p.separated(&record.bases, Self::ty);
            }
        });
        self.indented(|p| {
            for alias in &record.aliases {
                p.alias(alias);
            }
            for def in &record.enums {
                p.enumeration(def);
            }
            for nested in &record.records {
                p.record(nested);
            }
            for field in &record.fields {
                p.line(|p| p.field(field));
            }
            for member in &record.statics {
                p.line(|p| p.variable(member));
            }
        });
    }

    fn field(&mut self, field: &Field) {
        self.ty(&field.ty);
        if !field.name.is_empty() {
            let _ = write!(self.text, " {}", field.name);
        }
        if let Some(width) = &field.bit_width {
            self.put(" : ");
            self.expr(width);
        }
        if let Some(align) = &field.align {
            self.put(" align(");
            self.expr(align);
            self.put(")");
        }
        if let Some(init) = &field.init {
            self.init(init);
        }
    }

    fn enumeration(&mut self, def: &EnumDef) {
        self.line(|p| {
            p.put(if def.is_class { "enum class " } else { "enum " });
            p.scope(&def.scope);
            p.put(&def.name);
            if let Some(underlying) = &def.underlying {
                p.put(" : ");
                p.ty(underlying);
            }
            p.put(" { ");
            p.separated(&def.values, |p, (name, value)| {
                p.put(name);
                if let Some(value) = value {
                    p.put(" = ");
                    p.expr(value);
                }
            });
            p.put(" }");
        });
    }

    fn alias(&mut self, alias: &Alias) {
        self.line(|p| {
            p.template(&alias.template);
            p.put("using ");
            p.scope(&alias.scope);
            p.put(&alias.name);
            p.put(" = ");
            p.ty(&alias.target);
        });
    }

    fn variable(&mut self, decl: &VarDecl) {
        self.variable_quals(decl.quals);
        self.ty(&decl.ty);
        let _ = write!(self.text, " {}", decl.name);
        if let Some(align) = &decl.align {
            self.put(" align(");
            self.expr(align);
            self.put(")");
        }
        if let Some(init) = &decl.init {
            self.init(init);
        }
    }

    fn init(&mut self, init: &Init) {
        match init {
            Init::Value(value) => {
                self.put(" = ");
                self.expr(value);
            }
            Init::Paren(args) => {
                self.put("(");
                self.separated(args, Self::expr);
                self.put(")");
            }
            Init::Brace(args) => {
                self.put("{");
                self.separated(args, Self::expr);
                self.put("}");
            }
        }
    }

    fn path(&mut self, path: &Path) {
        for (i, segment) in path.segments.iter().enumerate() {
            if i > 0 {
                self.put("::");
            }
            self.segment(segment);
        }
    }

    fn segment(&mut self, segment: &PathSegment) {
        self.put(&segment.name);
        self.template_args(segment.args.as_deref());
    }

    fn template_args(&mut self, args: Option<&[TemplateArg]>) {
        let Some(args) = args else { return };
        self.put("<");
        self.separated(args, |p, arg| match arg {
            TemplateArg::Type(ty) => p.ty(ty),
            TemplateArg::Value(value) => {
                p.put("=");
                p.expr(value);
            }
        });
        self.put(">");
    }

    /// Qualifiers stand in front of a plain type and behind a pointer; `&a` is a reference to a.
    fn ty(&mut self, ty: &TypeExpr) {
        let is_level = matches!(ty.kind, TypeKind::Pointer(_) | TypeKind::Reference(_));
        if !is_level {
            self.type_words(ty, "", " ");
        }
        match &ty.kind {
            TypeKind::Builtin(scalar) => self.put(scalar_name(*scalar)),
            TypeKind::Named(path) => self.path(path),
            TypeKind::Pointer(inner) => self.pointee(inner, "*"),
            TypeKind::Reference(inner) => self.pointee(inner, "&"),
            TypeKind::Array(..) => self.array(ty),
            TypeKind::Function(returns, params) => {
                self.put("fn(");
                self.separated(params, Self::ty);
                self.put(") -> ");
                self.ty(returns);
            }
            TypeKind::Auto => self.put("auto"),
            TypeKind::Decltype(expr) => {
                self.put("decltype(");
                self.expr(expr);
                self.put(")");
            }
            TypeKind::Unknown => self.put("?"),
        }
        if is_level {
            self.type_words(ty, " ", "");
        }
    }

    fn type_words(&mut self, ty: &TypeExpr, before: &str, after: &str) {
        for (on, word) in [(ty.is_const, "const"), (ty.is_volatile, "volatile"), (ty.is_restrict, "restrict")] {
            if on {
                let _ = write!(self.text, "{before}{word}{after}");
            }
        }
    }

    fn pointee(&mut self, inner: &TypeExpr, mark: &str) {
        if matches!(inner.kind, TypeKind::Array(..) | TypeKind::Function(..)) {
            self.put("(");
            self.ty(inner);
            self.put(")");
        } else {
            self.ty(inner);
        }
        self.put(mark);
    }

    fn array(&mut self, ty: &TypeExpr) {
        let mut element = ty;
        let mut lengths = Vec::new();
        while let TypeKind::Array(inner, length) = &element.kind {
            lengths.push(length);
            element = inner;
        }
        self.ty(element);
        for length in lengths {
            self.put("[");
            if let Some(length) = length {
                self.expr(length);
            }
            self.put("]");
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int { value, unsigned, long } => {
                let _ =
                    write!(self.text, "{value}{}{}", if *unsigned { "u" } else { "" }, if *long { "l" } else { "" });
            }
            ExprKind::Float { value, suffix } => {
                let suffix = match suffix {
                    FloatSuffix::None => "",
                    FloatSuffix::F => "f",
                    FloatSuffix::Other => "?",
                };
                let _ = write!(self.text, "{value:?}{suffix}");
            }
            ExprKind::Bool(value) => {
                let _ = write!(self.text, "{value}");
            }
            ExprKind::Char(value) => {
                let _ = write!(self.text, "'{value}'");
            }
            ExprKind::Str(value) => {
                let _ = write!(self.text, "{value:?}");
            }
            ExprKind::Nullptr => self.put("nullptr"),
            ExprKind::This => self.put("this"),
            ExprKind::Name(path) => self.path(path),
            ExprKind::Unary { op, operand } => {
                self.put(unary_text(*op));
                self.expr(operand);
            }
            ExprKind::IncDec { prefix, step, operand } => {
                let op = if *step > 0 { "++" } else { "--" };
                if *prefix {
                    self.put(op);
                    self.expr(operand);
                } else {
                    self.expr(operand);
                    self.put(op);
                }
            }
            ExprKind::Binary { op, left, right } => self.infix(left, binary_text(*op), "", right),
            ExprKind::Assign { op, target, value } => {
                self.infix(target, op.map_or("", binary_text), "=", value);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                self.put("(");
                self.expr(condition);
                self.put(" ? ");
                self.expr(then);
                self.put(" : ");
                self.expr(otherwise);
                self.put(")");
            }
            ExprKind::Index { base, index } => {
                self.operand(base);
                self.put("[");
                self.expr(index);
                self.put("]");
            }
            ExprKind::Member { base, arrow, member } => {
                self.operand(base);
                self.put(if *arrow { "->" } else { "." });
                self.segment(member);
            }
            ExprKind::Call { callee, args } => {
                self.operand(callee);
                self.arguments(args);
            }
            ExprKind::Launch { callee, config, args } => {
                self.operand(callee);
                self.put("<<<");
                self.separated(config, Self::expr);
                self.put(">>>");
                self.arguments(args);
            }
            ExprKind::Cast { style, ty, operand } => {
                self.put(cast_text(*style));
                self.put("<");
                self.ty(ty);
                self.put(">(");
                self.expr(operand);
                self.put(")");
            }
            ExprKind::Construct { ty, args } => {
                self.put("construct ");
                self.ty(ty);
                self.arguments(args);
            }
            ExprKind::InitList(values) => {
                self.put("{");
                self.separated(values, Self::expr);
                self.put("}");
            }
            ExprKind::Designated { field, value } => {
                let _ = write!(self.text, ".{field} = ");
                self.expr(value);
            }
            ExprKind::SizeofType(ty) => {
                self.put("sizeof<");
                self.ty(ty);
                self.put(">");
            }
            ExprKind::SizeofExpr(value) => {
                self.put("sizeof(");
                self.expr(value);
                self.put(")");
            }
            ExprKind::Alignof(ty) => {
                self.put("alignof<");
                self.ty(ty);
                self.put(">");
            }
            ExprKind::Lambda(lambda) => self.lambda(lambda),
            ExprKind::New { ty, count } => {
                self.put("new ");
                self.ty(ty);
                if let Some(count) = count {
                    self.put("[");
                    self.expr(count);
                    self.put("]");
                }
            }
            ExprKind::Delete(operand) => {
                self.put("delete ");
                self.expr(operand);
            }
            ExprKind::Comma(values) => {
                self.put("comma");
                self.arguments(values);
            }
            ExprKind::Unknown(why) => {
                let _ = write!(self.text, "unknown<{why}>");
            }
        }
    }

    fn arguments(&mut self, args: &[Expr]) {
        self.put("(");
        self.separated(args, Self::expr);
        self.put(")");
    }

    fn infix(&mut self, left: &Expr, op: &str, tail: &str, right: &Expr) {
        self.put("(");
        self.expr(left);
        let _ = write!(self.text, " {op}{tail} ");
        self.expr(right);
        self.put(")");
    }

    /// What a postfix operator binds to; only prefix operators need brackets.
    fn operand(&mut self, expr: &Expr) {
        if matches!(expr.kind, ExprKind::Unary { .. } | ExprKind::IncDec { .. } | ExprKind::New { .. }) {
            self.put("(");
            self.expr(expr);
            self.put(")");
        } else {
            self.expr(expr);
        }
    }

    fn lambda(&mut self, lambda: &Lambda) {
        self.put(if lambda.captures_by_reference { "[&] " } else { "[=] " });
        self.function_quals(lambda.quals);
        self.params(&lambda.params, lambda.quals.is_variadic);
        self.put(" {\n");
        self.indented(|p| p.stmts(&lambda.body));
        for _ in 0..self.indent {
            self.put("  ");
        }
        self.put("}");
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn nested(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(stmts) => self.indented(|p| p.stmts(stmts)),
            _ => self.indented(|p| p.stmt(stmt)),
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.line(|p| p.expr(expr)),
            StmtKind::Decl(decls) => self.line(|p| {
                p.put("let ");
                p.separated(decls, Self::variable);
            }),
            StmtKind::Block(stmts) => {
                self.line(|p| p.put("block"));
                self.indented(|p| p.stmts(stmts));
            }
            StmtKind::If { is_constexpr, init, condition, then, otherwise } => {
                self.before("init", init.as_deref());
                self.line(|p| {
                    p.put(if *is_constexpr { "if constexpr " } else { "if " });
                    p.expr(condition);
                });
                self.nested(then);
                if let Some(otherwise) = otherwise {
                    self.line(|p| p.put("else"));
                    self.nested(otherwise);
                }
            }
            StmtKind::While { condition, body } => {
                self.line(|p| {
                    p.put("while ");
                    p.expr(condition);
                });
                self.nested(body);
            }
            StmtKind::DoWhile { body, condition } => {
                self.line(|p| p.put("do"));
                self.nested(body);
                self.line(|p| {
                    p.put("while ");
                    p.expr(condition);
                });
            }
            StmtKind::For { init, condition, step, body, unroll } => {
                self.before("init", init.as_deref());
                self.line(|p| p.for_head(condition.as_ref(), step.as_ref(), unroll.as_ref()));
                self.nested(body);
            }
            StmtKind::RangeFor { variable, range, body } => {
                self.line(|p| {
                    p.put("for ");
                    p.variable(variable);
                    p.put(" in ");
                    p.expr(range);
                });
                self.nested(body);
            }
            StmtKind::Switch { condition, cases } => {
                self.line(|p| {
                    p.put("switch ");
                    p.expr(condition);
                });
                for case in cases {
                    self.line(|p| {
                        p.put("case ");
                        p.separated(&case.labels, Self::expr);
                        p.put(if case.is_default { " default" } else { "" });
                    });
                    self.indented(|p| p.stmts(&case.body));
                }
            }
            StmtKind::Return(value) => self.line(|p| {
                p.put("return");
                if let Some(value) = value {
                    p.put(" ");
                    p.expr(value);
                }
            }),
            StmtKind::Break => self.line(|p| p.put("break")),
            StmtKind::Continue => self.line(|p| p.put("continue")),
            StmtKind::Goto(label) => self.line(|p| {
                let _ = write!(p.text, "goto {label}");
            }),
            StmtKind::Label(label) => self.line(|p| {
                let _ = write!(p.text, "label {label}");
            }),
            StmtKind::Asm(asm) => self.line(|p| {
                let _ = write!(p.text, "asm {:?}", asm.template);
                for operands in [&asm.outputs, &asm.inputs] {
                    p.put(" : ");
                    p.separated(operands, |p, (constraint, value)| {
                        let _ = write!(p.text, "{constraint:?} ");
                        p.expr(value);
                    });
                }
            }),
            StmtKind::Alias(alias) => self.alias(alias),
            StmtKind::Record(record) => self.record(record),
            StmtKind::Enum(def) => self.enumeration(def),
            StmtKind::Empty => self.line(|p| p.put("empty")),
            StmtKind::Gap(why) => self.line(|p| {
                let _ = write!(p.text, "gap<{why}>");
            }),
        }
    }

    fn before(&mut self, word: &str, stmt: Option<&Stmt>) {
        if let Some(stmt) = stmt {
            self.line(|p| p.put(word));
            self.nested(stmt);
        }
    }

    fn for_head(&mut self, condition: Option<&Expr>, step: Option<&Expr>, unroll: Option<&Unroll>) {
        match unroll {
            Some(Unroll::Full) => self.put("unroll "),
            Some(Unroll::Count(count)) => {
                self.put("unroll(");
                self.expr(count);
                self.put(") ");
            }
            None => {}
        }
        self.put("for ");
        if let Some(condition) = condition {
            self.expr(condition);
        }
        self.put("; ");
        if let Some(step) = step {
            self.expr(step);
        }
    }
}

fn scalar_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Void => "void",
        Scalar::Bool => "bool",
        Scalar::Char => "char",
        Scalar::SChar => "schar",
        Scalar::UChar => "uchar",
        Scalar::Short => "short",
        Scalar::UShort => "ushort",
        Scalar::Int => "int",
        Scalar::UInt => "uint",
        Scalar::Long => "long",
        Scalar::ULong => "ulong",
        Scalar::LongLong => "longlong",
        Scalar::ULongLong => "ulonglong",
        Scalar::Float => "float",
        Scalar::Double => "double",
    }
}

fn unary_text(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Plus => "+",
        UnaryOp::Minus => "-",
        UnaryOp::Not => "!",
        UnaryOp::BitNot => "~",
        UnaryOp::Deref => "*",
        UnaryOp::AddressOf => "&",
    }
}

fn binary_text(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
    }
}

fn cast_text(style: CastStyle) -> &'static str {
    match style {
        CastStyle::C => "cast",
        CastStyle::Static => "static_cast",
        CastStyle::Reinterpret => "reinterpret_cast",
        CastStyle::Const => "const_cast",
        CastStyle::Dynamic => "dynamic_cast",
    }
}
