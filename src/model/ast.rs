//! The lowered form of a file: what the analysis needs of CUDA C++, without tokens and without a grammar.
//!
//! Lowering resolves nothing: names stay names, `f(x)` may still be a call or a conversion, and a template argument
//! that is a bare name may be a type or a value. Those decisions need the whole project and are taken by
//! the stages below.

use smol_str::SmolStr;

use crate::source::{FileId, Span};

pub type Name = SmolStr;

/// One file after preprocessing, parsing and lowering.
#[derive(Debug, Default)]
pub struct Unit {
    /// Functions, kernels and methods, declarations without body included, in source order.
    pub functions: Vec<Function>,
    pub records: Vec<Record>,
    pub enums: Vec<EnumDef>,
    pub aliases: Vec<Alias>,
    /// Variables at namespace scope and static data members: `__constant__`, `__device__`, `const`, `constexpr`.
    pub globals: Vec<Global>,
    /// `using namespace x;` at file or namespace scope.
    pub using_namespaces: Vec<Path>,
    /// Code that was not understood, in the smallest enclosing function.
    pub gaps: Vec<Gap>,
}

/// Code the parser or the lowering could not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    pub span: Option<Span>,
    pub file: FileId,
    /// The enclosing function; `None` at file scope.
    pub function: Option<Name>,
    /// One sentence fragment, such as "syntax error".
    pub why: String,
}

/// A possibly qualified name: `a::b<int>::c`.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// Never empty.
    pub segments: Vec<PathSegment>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PathSegment {
    pub name: Name,
    /// `None` without `<...>`.
    pub args: Option<Vec<TemplateArg>>,
}

impl Path {
    pub fn simple(name: impl Into<Name>) -> Self {
        Self { segments: vec![PathSegment { name: name.into(), args: None }] }
    }

    /// The name after the last `::`.
    pub fn last(&self) -> &Name {
        if let Some(segment) = self.segments.last() { &segment.name } else {
            static EMPTY: Name = SmolStr::new_static("");
            &EMPTY
        }
    }

    /// Template arguments of the last segment.
    pub fn last_args(&self) -> Option<&[TemplateArg]> {
        self.segments.last().and_then(|s| s.args.as_deref())
    }

    /// The plain name where the path has one segment.
    pub fn as_simple(&self) -> Option<&Name> {
        match self.segments.as_slice() {
            [one] => Some(&one.name),
            _ => None,
        }
    }
}

/// An argument in `<...>`. A bare name or a name with template arguments is always a `Type` here (it may turn out to
/// name a value); anything that cannot be a type is a `Value`.
#[derive(Debug, Clone, PartialEq)]
pub enum TemplateArg {
    Type(TypeExpr),
    Value(Box<Expr>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct TypeExpr {
    pub span: Span,
    pub kind: TypeKind,
    /// `const` on this level (for a pointer: the pointer itself).
    pub is_const: bool,
    pub is_volatile: bool,
    /// `__restrict__` on this level.
    pub is_restrict: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TypeKind {
    Builtin(Scalar),
    /// A class, enum, alias, template parameter or CUDA vector type.
    Named(Path),
    Pointer(Box<TypeExpr>),
    /// `T&` or `T&&`.
    Reference(Box<TypeExpr>),
    /// `T[n]`; the length is absent for `T[]`.
    Array(Box<TypeExpr>, Option<Box<Expr>>),
    /// Function type or function pointer target.
    Function(Box<TypeExpr>, Vec<TypeExpr>),
    Auto,
    Decltype(Box<Expr>),
    Unknown,
}

/// Arithmetic types with their size on the GPU and on a 64-bit Linux host (`long` is 64 bits).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scalar {
    Void,
    Bool,
    Char,
    SChar,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    LongLong,
    ULongLong,
    Float,
    Double,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    pub span: Span,
    pub kind: ExprKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    Int {
        value: u64,
        unsigned: bool,
        long: bool,
    },
    Float {
        value: f64,
        suffix: FloatSuffix,
    },
    Bool(bool),
    Char(i64),
    Str(Name),
    Nullptr,
    This,
    Name(Path),
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    /// `++x`, `x--`; `step` is 1 or -1.
    IncDec {
        prefix: bool,
        step: i8,
        operand: Box<Expr>,
    },
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `=` has no `op`; `+=` and kin have one.
    Assign {
        op: Option<BinaryOp>,
        target: Box<Expr>,
        value: Box<Expr>,
    },
    Conditional {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    Index {
        base: Box<Expr>,
        index: Box<Expr>,
    },
    Member {
        base: Box<Expr>,
        arrow: bool,
        member: PathSegment,
    },
    /// A call or a conversion `T(x)`: the callee tells, once names are known.
    Call {
        callee: Box<Expr>,
        args: Vec<Expr>,
    },
    /// `callee<<<config>>>(args)`; config holds one to four expressions: grid, block, dynamic shared bytes, stream.
    Launch {
        callee: Box<Expr>,
        config: Vec<Expr>,
        args: Vec<Expr>,
    },
    Cast {
        style: CastStyle,
        ty: TypeExpr,
        operand: Box<Expr>,
    },
    /// `T{a, b}` and `T(a, b)` where T is certainly a type.
    Construct {
        ty: TypeExpr,
        args: Vec<Expr>,
    },
    /// `{a, b}` without a type.
    InitList(Vec<Expr>),
    /// `{.x = a}` inside an initialiser list.
    Designated {
        field: Name,
        value: Box<Expr>,
    },
    SizeofType(TypeExpr),
    SizeofExpr(Box<Expr>),
    Alignof(TypeExpr),
    Lambda(Box<Lambda>),
    New {
        ty: TypeExpr,
        count: Option<Box<Expr>>,
    },
    Delete(Box<Expr>),
    Comma(Vec<Expr>),
    /// Understood by nobody; the reason is a sentence fragment.
    Unknown(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloatSuffix {
    /// No suffix: a `double`.
    None,
    F,
    /// `l`, a half type or a user-defined suffix.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    Plus,
    Minus,
    Not,
    BitNot,
    Deref,
    AddressOf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CastStyle {
    C,
    Static,
    Reinterpret,
    Const,
    Dynamic,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Lambda {
    pub captures_by_reference: bool,
    pub params: Vec<Param>,
    pub body: Vec<Stmt>,
    /// `__device__`, `__host__` after the introducer.
    pub quals: FunctionQuals,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Stmt {
    pub span: Span,
    pub kind: StmtKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StmtKind {
    Expr(Expr),
    Decl(Vec<VarDecl>),
    Block(Vec<Stmt>),
    If {
        is_constexpr: bool,
        init: Option<Box<Stmt>>,
        condition: Expr,
        then: Box<Stmt>,
        otherwise: Option<Box<Stmt>>,
    },
    While {
        condition: Expr,
        body: Box<Stmt>,
    },
    DoWhile {
        body: Box<Stmt>,
        condition: Expr,
    },
    For {
        init: Option<Box<Stmt>>,
        condition: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
        unroll: Option<Unroll>,
    },
    RangeFor {
        variable: VarDecl,
        range: Expr,
        body: Box<Stmt>,
    },
    Switch {
        condition: Expr,
        cases: Vec<SwitchCase>,
    },
    Return(Option<Expr>),
    Break,
    Continue,
    Goto(Name),
    Label(Name),
    Asm(Asm),
    /// A type defined or named inside a function.
    Alias(Alias),
    Record(Box<Record>),
    Enum(EnumDef),
    Empty,
    /// Not understood; the reason is a sentence fragment.
    Gap(&'static str),
}

/// `#pragma unroll` in front of a loop (also through `_Pragma` and unroll macros).
#[derive(Debug, Clone, PartialEq)]
pub enum Unroll {
    /// No count given.
    Full,
    Count(Box<Expr>),
}

/// One `case` group: all labels in front of the same statements. Falls through unless the statements break.
#[derive(Debug, Clone, PartialEq)]
pub struct SwitchCase {
    pub labels: Vec<Expr>,
    pub is_default: bool,
    pub body: Vec<Stmt>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Asm {
    /// The instruction text, string pieces joined.
    pub template: String,
    /// Constraint and operand.
    pub outputs: Vec<(Name, Expr)>,
    pub inputs: Vec<(Name, Expr)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct VarDecl {
    pub name: Name,
    pub name_span: Span,
    /// The whole declarator with its initialiser, without the shared specifiers.
    pub span: Span,
    pub ty: TypeExpr,
    pub quals: VarQuals,
    pub init: Option<Init>,
    /// Argument of `alignas(n)` / `__align__(n)`.
    pub align: Option<Box<Expr>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VarQuals {
    pub is_shared: bool,
    pub is_constant: bool,
    pub is_device: bool,
    pub is_managed: bool,
    pub is_extern: bool,
    pub is_static: bool,
    pub is_constexpr: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Init {
    /// `= e`; `e` may be an `InitList`.
    Value(Expr),
    /// `(a, b)`.
    Paren(Vec<Expr>),
    /// `{a, b}`.
    Brace(Vec<Expr>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    pub name: Name,
    /// Enclosing namespaces and classes, outermost first.
    pub scope: Vec<Name>,
    /// The class it is a method of: `Some` for a member defined in or outside of the class.
    pub class: Option<Name>,
    pub name_span: Span,
    /// From the first specifier (the template head included) to the closing brace.
    pub span: Span,
    pub template: Vec<TemplateParam>,
    /// Arguments of an explicit specialisation `template <> f<int>(...)`.
    pub specialisation: Option<Vec<TemplateArg>>,
    /// Template parameters of the enclosing class templates, for methods.
    pub class_template: Vec<TemplateParam>,
    pub quals: FunctionQuals,
    pub launch_bounds: Vec<Expr>,
    pub params: Vec<Param>,
    pub returns: TypeExpr,
    /// Member initialisers of a constructor.
    pub member_inits: Vec<(Name, Init)>,
    /// `None` for a declaration.
    pub body: Option<Vec<Stmt>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FunctionQuals {
    pub is_global: bool,
    pub is_device: bool,
    pub is_host: bool,
    pub is_inline: bool,
    pub is_static: bool,
    pub is_constexpr: bool,
    pub is_forceinline: bool,
    pub is_noinline: bool,
    /// `...` at the end of the parameter list.
    pub is_variadic: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// Empty when unnamed.
    pub name: Name,
    pub span: Span,
    pub ty: TypeExpr,
    pub default: Option<Expr>,
    /// `Args... args`.
    pub is_pack: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TemplateParam {
    pub name: Name,
    pub kind: TemplateParamKind,
    pub is_pack: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TemplateParamKind {
    Type {
        default: Option<TypeExpr>,
    },
    Value {
        ty: TypeExpr,
        default: Option<Expr>,
    },
    /// A template template parameter.
    Template,
}

/// A struct, class or union.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Empty for an anonymous record.
    pub name: Name,
    pub scope: Vec<Name>,
    pub span: Span,
    pub is_union: bool,
    pub template: Vec<TemplateParam>,
    pub specialisation: Option<Vec<TemplateArg>>,
    pub bases: Vec<TypeExpr>,
    /// Non-static data members in order. A bit-field has a width.
    pub fields: Vec<Field>,
    /// Argument of `alignas(n)` / `__align__(n)` / `__attribute__((aligned(n)))`.
    pub align: Option<Box<Expr>>,
    pub is_packed: bool,
    pub aliases: Vec<Alias>,
    /// Records nested inside, enums nested inside.
    pub records: Vec<Record>,
    pub enums: Vec<EnumDef>,
    /// `static constexpr` and `static const` members with their values.
    pub statics: Vec<VarDecl>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub name: Name,
    pub ty: TypeExpr,
    pub bit_width: Option<Box<Expr>>,
    pub align: Option<Box<Expr>>,
    pub init: Option<Init>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EnumDef {
    /// Empty for an anonymous enum.
    pub name: Name,
    pub scope: Vec<Name>,
    pub is_class: bool,
    pub underlying: Option<TypeExpr>,
    /// A value that is absent is one more than the one before.
    pub values: Vec<(Name, Option<Expr>)>,
}

/// `typedef T name;`, `using name = T;`, with template parameters for an alias template.
#[derive(Debug, Clone, PartialEq)]
pub struct Alias {
    pub name: Name,
    pub scope: Vec<Name>,
    pub template: Vec<TemplateParam>,
    pub target: TypeExpr,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Global {
    pub scope: Vec<Name>,
    pub decl: VarDecl,
}
