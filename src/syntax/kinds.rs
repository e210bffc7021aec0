//! From the grammar's numbers to names: node kinds and fields as enums, resolved once per process.

use std::sync::LazyLock;

use tree_sitter::{Language, Node};

/// The grammar all sources are read with.
pub fn language() -> Language {
    tree_sitter_cuda::LANGUAGE.into()
}

macro_rules! kinds {
    ($($variant:ident = $name:literal,)*) => {
        /// What a syntax node is. Only the kinds that lowering tells apart have a name here.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Kind {
            $($variant,)*
            /// Text the parser could not place.
            Error,
            /// Brackets, commas and semicolons.
            Punctuation,
            /// Any other token without a name: keywords and operators.
            Token,
            Other,
        }

        const NAMED: &[(&str, Kind)] = &[$(($name, Kind::$variant)),*];
    };
}

kinds! {
    AbstractArrayDeclarator = "abstract_array_declarator",
    AbstractFunctionDeclarator = "abstract_function_declarator",
    AbstractParenthesizedDeclarator = "abstract_parenthesized_declarator",
    AbstractPointerDeclarator = "abstract_pointer_declarator",
    AbstractReferenceDeclarator = "abstract_reference_declarator",
    AccessSpecifier = "access_specifier",
    AliasDeclaration = "alias_declaration",
    AlignasQualifier = "alignas_qualifier",
    AlignofExpression = "alignof_expression",
    ArgumentList = "argument_list",
    ArrayDeclarator = "array_declarator",
    AssignmentExpression = "assignment_expression",
    AttributeDeclaration = "attribute_declaration",
    AttributeSpecifier = "attribute_specifier",
    AttributedDeclarator = "attributed_declarator",
    AttributedStatement = "attributed_statement",
    BaseClassClause = "base_class_clause",
    BinaryExpression = "binary_expression",
    BitfieldClause = "bitfield_clause",
    BreakStatement = "break_statement",
    CallExpression = "call_expression",
    CaseStatement = "case_statement",
    CastExpression = "cast_expression",
    CatchClause = "catch_clause",
    CharLiteral = "char_literal",
    ClassSpecifier = "class_specifier",
    CoAwaitExpression = "co_await_expression",
    CoReturnStatement = "co_return_statement",
    CoYieldStatement = "co_yield_statement",
    CommaExpression = "comma_expression",
    Comment = "comment",
    CompoundLiteralExpression = "compound_literal_expression",
    CompoundStatement = "compound_statement",
    ConcatenatedString = "concatenated_string",
    ConceptDefinition = "concept_definition",
    ConditionClause = "condition_clause",
    ConditionalExpression = "conditional_expression",
    ContinueStatement = "continue_statement",
    Declaration = "declaration",
    DeclarationList = "declaration_list",
    Decltype = "decltype",
    DeleteExpression = "delete_expression",
    DependentName = "dependent_name",
    DependentType = "dependent_type",
    DestructorName = "destructor_name",
    DoStatement = "do_statement",
    ElseClause = "else_clause",
    EnumSpecifier = "enum_specifier",
    Enumerator = "enumerator",
    EnumeratorList = "enumerator_list",
    ExportDeclaration = "export_declaration",
    ExpressionStatement = "expression_statement",
    ExtensionExpression = "extension_expression",
    False = "false",
    FieldDeclaration = "field_declaration",
    FieldDeclarationList = "field_declaration_list",
    FieldDesignator = "field_designator",
    FieldExpression = "field_expression",
    FieldIdentifier = "field_identifier",
    FieldInitializer = "field_initializer",
    FieldInitializerList = "field_initializer_list",
    FoldExpression = "fold_expression",
    ForRangeLoop = "for_range_loop",
    ForStatement = "for_statement",
    FriendDeclaration = "friend_declaration",
    FunctionDeclarator = "function_declarator",
    FunctionDefinition = "function_definition",
    GenericExpression = "generic_expression",
    GnuAsmExpression = "gnu_asm_expression",
    GnuAsmInputOperand = "gnu_asm_input_operand",
    GnuAsmOutputOperand = "gnu_asm_output_operand",
    GotoStatement = "goto_statement",
    Identifier = "identifier",
    IfStatement = "if_statement",
    InitDeclarator = "init_declarator",
    InitStatement = "init_statement",
    InitializerList = "initializer_list",
    InitializerPair = "initializer_pair",
    KernelCallSyntax = "kernel_call_syntax",
    LabeledStatement = "labeled_statement",
    LambdaCaptureInitializer = "lambda_capture_initializer",
    LambdaCaptureSpecifier = "lambda_capture_specifier",
    LambdaDeclarator = "lambda_declarator",
    LambdaDefaultCapture = "lambda_default_capture",
    LambdaExpression = "lambda_expression",
    LaunchBounds = "launch_bounds",
    LinkageSpecification = "linkage_specification",
    LiteralSuffix = "literal_suffix",
    MsDeclspecModifier = "ms_declspec_modifier",
    MsPointerModifier = "ms_pointer_modifier",
    NamespaceDefinition = "namespace_definition",
    NamespaceIdentifier = "namespace_identifier",
    NestedNamespaceSpecifier = "nested_namespace_specifier",
    NewExpression = "new_expression",
    Null = "null",
    NumberLiteral = "number_literal",
    OffsetofExpression = "offsetof_expression",
    OperatorCast = "operator_cast",
    OperatorName = "operator_name",
    OptionalParameterDeclaration = "optional_parameter_declaration",
    OptionalTypeParameterDeclaration = "optional_type_parameter_declaration",
    ParameterDeclaration = "parameter_declaration",
    ParameterList = "parameter_list",
    ParameterPackExpansion = "parameter_pack_expansion",
    ParenthesizedDeclarator = "parenthesized_declarator",
    ParenthesizedExpression = "parenthesized_expression",
    PlaceholderTypeSpecifier = "placeholder_type_specifier",
    PointerDeclarator = "pointer_declarator",
    PointerExpression = "pointer_expression",
    PointerTypeDeclarator = "pointer_type_declarator",
    PreprocCall = "preproc_call",
    PreprocElif = "preproc_elif",
    PreprocElifdef = "preproc_elifdef",
    PreprocElse = "preproc_else",
    PreprocIf = "preproc_if",
    PreprocIfdef = "preproc_ifdef",
    PrimitiveType = "primitive_type",
    QualifiedIdentifier = "qualified_identifier",
    RawStringLiteral = "raw_string_literal",
    ReferenceDeclarator = "reference_declarator",
    RequiresClause = "requires_clause",
    RequiresExpression = "requires_expression",
    ReturnStatement = "return_statement",
    SizedTypeSpecifier = "sized_type_specifier",
    SizeofExpression = "sizeof_expression",
    StatementIdentifier = "statement_identifier",
    StaticAssertDeclaration = "static_assert_declaration",
    StorageClassSpecifier = "storage_class_specifier",
    StringLiteral = "string_literal",
    StructSpecifier = "struct_specifier",
    StructuredBindingDeclarator = "structured_binding_declarator",
    SubscriptArgumentList = "subscript_argument_list",
    SubscriptExpression = "subscript_expression",
    SwitchStatement = "switch_statement",
    TemplateArgumentList = "template_argument_list",
    TemplateDeclaration = "template_declaration",
    TemplateFunction = "template_function",
    TemplateInstantiation = "template_instantiation",
    TemplateMethod = "template_method",
    TemplateParameterList = "template_parameter_list",
    TemplateTemplateParameterDeclaration = "template_template_parameter_declaration",
    TemplateType = "template_type",
    This = "this",
    ThrowStatement = "throw_statement",
    TrailingReturnType = "trailing_return_type",
    TranslationUnit = "translation_unit",
    True = "true",
    TryStatement = "try_statement",
    TypeDefinition = "type_definition",
    TypeDescriptor = "type_descriptor",
    TypeIdentifier = "type_identifier",
    TypeParameterDeclaration = "type_parameter_declaration",
    TypeQualifier = "type_qualifier",
    UnaryExpression = "unary_expression",
    UnionSpecifier = "union_specifier",
    UpdateExpression = "update_expression",
    UserDefinedLiteral = "user_defined_literal",
    UsingDeclaration = "using_declaration",
    VariadicDeclarator = "variadic_declarator",
    VariadicParameterDeclaration = "variadic_parameter_declaration",
    VariadicTypeParameterDeclaration = "variadic_type_parameter_declaration",
    WhileStatement = "while_statement",
}

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let language = language();
    (0..language.node_kind_count())
        .map(|id| {
            let id = id as u16;
            let name = language.node_kind_for_id(id).unwrap_or("");
            match name {
                "(" | ")" | "{" | "}" | "[" | "]" | "," | ";" => Kind::Punctuation,
                _ if !language.node_kind_is_named(id) => Kind::Token,
                _ => NAMED.iter().find(|(n, _)| *n == name).map_or(Kind::Other, |(_, kind)| *kind),
            }
        })
        .collect()
});

impl Kind {
    pub fn of(node: Node<'_>) -> Self {
        match node.kind_id() {
            u16::MAX => Self::Error,
            id => KINDS.get(id as usize).copied().unwrap_or(Self::Other),
        }
    }
}

macro_rules! fields {
    ($($variant:ident = $name:literal,)*) => {
        /// The part a node plays in its parent.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Field {
            $($variant,)*
            Other,
            None,
        }

        const FIELDS: &[(&str, Field)] = &[$(($name, Field::$variant)),*];
    };
}

fields! {
    Alternative = "alternative",
    Argument = "argument",
    Arguments = "arguments",
    AssemblyCode = "assembly_code",
    Base = "base",
    Body = "body",
    Captures = "captures",
    Condition = "condition",
    Consequence = "consequence",
    Constraint = "constraint",
    Declarator = "declarator",
    DefaultType = "default_type",
    DefaultValue = "default_value",
    Designator = "designator",
    Directive = "directive",
    Field = "field",
    Function = "function",
    Indices = "indices",
    Initializer = "initializer",
    InputOperands = "input_operands",
    Label = "label",
    Left = "left",
    Length = "length",
    Name = "name",
    Operator = "operator",
    OutputOperands = "output_operands",
    Parameters = "parameters",
    Pattern = "pattern",
    Right = "right",
    Scope = "scope",
    Size = "size",
    Type = "type",
    Update = "update",
    Value = "value",
}

static FIELD_TABLE: LazyLock<Vec<Field>> = LazyLock::new(|| {
    let language = language();
    (0..=language.field_count())
        .map(|id| match language.field_name_for_id(id as u16) {
            Some(name) => FIELDS.iter().find(|(n, _)| *n == name).map_or(Field::Other, |(_, field)| *field),
            None => Field::Other,
        })
        .collect()
});

impl Field {
    pub fn of(id: Option<std::num::NonZeroU16>) -> Self {
        match id {
            Some(id) => FIELD_TABLE.get(id.get() as usize).copied().unwrap_or(Self::Other),
            None => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_kind_and_field_exists_in_the_grammar() {
        let language = language();
        for (name, _) in NAMED {
            assert_ne!(language.id_for_node_kind(name, true), 0, "no node kind {name}");
        }
        for (name, _) in FIELDS {
            assert!(language.field_id_for_name(name).is_some(), "no field {name}");
        }
    }
}
