import { defineConfig, type OxlintConfig } from "oxlint";

const restricted = {
  patterns: [{ group: ["@shoal/*/src/**", "@shoal/*/dist/**"], message: "Import the package's entry point." }],
};
const restrictedInBrowsers = {
  ...restricted,
  patterns: [
    ...restricted.patterns,
    { group: ["node:*"], message: "This package runs in a browser too: put Node code behind the ./node entry." },
  ],
};

const bareAnySignal = {
  object: "AbortSignal",
  property: "any",
  message:
    "Use `anySignal` of @shoal/primitives: several versions of Node lose aborts of sources that nothing else refers to.",
};

/** Errors that no program should have, in JavaScript and TypeScript. */
const always = `
    constructor-super for-direction getter-return no-async-promise-executor no-case-declarations no-class-assign
    no-compare-neg-zero no-cond-assign no-const-assign no-constant-binary-expression no-constant-condition
    no-control-regex no-debugger no-delete-var no-dupe-class-members no-dupe-else-if no-dupe-keys no-duplicate-case
    no-empty no-empty-character-class no-empty-pattern no-empty-static-block no-ex-assign no-extra-boolean-cast
    no-fallthrough no-func-assign no-global-assign no-import-assign no-invalid-regexp no-irregular-whitespace
    no-loss-of-precision no-misleading-character-class no-new-native-nonconstructor no-nonoctal-decimal-escape
    no-obj-calls no-prototype-builtins no-regex-spaces no-self-assign no-setter-return no-shadow-restricted-names
    no-sparse-arrays no-this-before-super no-unassigned-vars no-unexpected-multiline no-unreachable
    no-unsafe-finally no-unsafe-negation no-unused-labels
    no-useless-backreference no-useless-catch no-useless-escape no-var no-with
    prefer-const prefer-rest-params prefer-spread preserve-caught-error require-yield use-isnan valid-typeof
`;

/** What typescript-eslint calls strict and stylistic, with types. */
const typed = `
    adjacent-overload-signatures array-type await-thenable ban-tslint-comment class-literal-property-style
    consistent-generic-constructors consistent-indexed-object-style consistent-type-assertions
    consistent-type-definitions dot-notation no-array-delete no-base-to-string no-confusing-non-null-assertion
    no-confusing-void-expression no-deprecated no-duplicate-enum-values no-duplicate-type-constituents
    no-dynamic-delete no-explicit-any no-extra-non-null-assertion no-extraneous-class no-floating-promises
    no-for-in-array no-generated-empty-object-type no-implied-eval no-inferrable-types no-meaningless-void-operator
    no-misused-new no-misused-promises no-misused-spread no-mixed-enums no-namespace
    no-non-null-asserted-nullish-coalescing no-non-null-asserted-optional-chain no-non-null-assertion
    no-redundant-type-constituents no-require-imports no-this-alias no-unnecessary-boolean-literal-compare
    no-unnecessary-condition no-unnecessary-template-expression no-unnecessary-type-arguments
    no-unnecessary-type-assertion no-unnecessary-type-constraint no-unnecessary-type-conversion
    no-unnecessary-type-parameters no-unsafe-argument no-unsafe-assignment no-unsafe-call
    no-unsafe-declaration-merging no-unsafe-enum-comparison no-unsafe-function-type no-unsafe-member-access
    no-unsafe-return no-unsafe-unary-minus no-useless-default-assignment no-wrapper-object-types
    non-nullable-type-assertion-style only-throw-error prefer-as-const prefer-find prefer-for-of
    prefer-function-type prefer-includes prefer-literal-enum-member prefer-namespace-keyword
    prefer-nullish-coalescing prefer-optional-chain prefer-promise-reject-errors prefer-reduce-type-parameter
    prefer-regexp-exec prefer-return-this-type prefer-string-starts-ends-with related-getter-setter-pairs
    triple-slash-reference unbound-method unified-signatures use-unknown-in-catch-callback-variable
`;

const hooks = `
    error-boundaries exhaustive-deps globals immutability preserve-manual-memoization purity refs rules-of-hooks
    set-state-in-effect set-state-in-render static-components unsupported-syntax use-memo
`;

const errors = (names: string, plugin = "") =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [`${plugin}${name}`, "error" as const]),
  );

const own = [{ name: "shoal", specifier: "./tools/lint-rules.mjs" }];
const tests = ["**/*.{test,slow}.{ts,tsx}", "**/src/**/testing/**/*.ts", "tools/*.test.ts"];
const waits = { "shoal/no-own-limits": "error", "shoal/no-sleeps": "error" } as const;
/** Tests list cases, benches list measurements. */
const notLimited = ["**/*.{test,slow,test-d}.{ts,tsx}", "**/testing/**", "apps/{bench,e2e}/**"];

const overrides: OxlintConfig["overrides"] = [
  {
    files: ["**/*.{ts,tsx}"],
    jsPlugins: own,
    rules: {
      "shoal/pure-zod": "error",
      ...errors(typed, "typescript/"),
      "no-array-constructor": "error",
      "no-console": "error",
      "no-empty-function": "error",
      "no-unused-expressions": "error",
      "no-useless-constructor": "error",
      "no-restricted-imports": ["error", restricted],
      // Four, for what the wire makes four: the client's methods take a session, something in it, a body and options; ServiceError a status, a code, a message and options.
      // Three would ask some 150 functions for an object that only carries their arguments.
      "max-params": ["error", 4],
      "typescript/ban-ts-comment": ["error", { minimumDescriptionLength: 10 }],
      // `interface Profile extends z.output<…> {}` is what keeps hovers short.
      "typescript/no-empty-object-type": ["error", { allowInterfaces: "with-single-extends" }],
      "typescript/restrict-plus-operands": [
        "error",
        { allowAny: false, allowBoolean: false, allowNullish: false, allowNumberAndString: false, allowRegExp: false },
      ],
      "typescript/restrict-template-expressions": ["error", { allowNumber: true }],
      "typescript/return-await": ["error", "error-handling-correctness-only"],
      "typescript/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    // The compiler knows these in TypeScript, with types.
    files: ["**/*.{js,mjs}"],
    rules: errors("no-redeclare no-undef no-unsafe-optional-chaining no-unused-private-class-members"),
  },
  {
    files: ["apps/console/src/**/*.{ts,tsx}"],
    plugins: ["react"],
    rules: { ...errors(hooks, "react/"), "no-restricted-imports": ["error", restrictedInBrowsers] },
  },
  {
    files: ["packages/{schemas,contract,transport,client}/src/**/*.ts"],
    excludeFiles: ["packages/*/src/node/**", "**/*.test.ts"],
    rules: { "no-restricted-imports": ["error", restrictedInBrowsers] },
  },
  {
    files: ["{packages,apps}/*/src/**/*.{ts,tsx}"],
    excludeFiles: notLimited,
    rules: { "max-lines": ["error", 400], "max-lines-per-function": ["error", 80] },
  },
  {
    // Not in tests and tools, whose texts are their own.
    files: ["{packages,apps}/*/src/**/*.{ts,tsx}"],
    excludeFiles: ["**/*.{test,slow,test-d}.{ts,tsx}", "**/testing/**", "apps/{bench,demo,docs,e2e}/**"],
    jsPlugins: own,
    rules: { "shoal/no-slow-patterns": "error" },
  },
  {
    files: tests,
    excludeFiles: ["packages/testkit/**"],
    jsPlugins: own,
    rules: waits,
  },
  {
    // Not in sites, whose pages take time, nor in programs that draw and film for people.
    files: ["apps/e2e/src/**/*.ts"],
    excludeFiles: ["apps/e2e/src/{sites,newcomers,console/pictures}/**"],
    jsPlugins: own,
    rules: waits,
  },
  {
    // The SDK is exempt: it holds the sources of its signals, and has no dependency for this.
    files: ["{packages,apps}/*/src/**/*.ts"],
    excludeFiles: ["**/*.{test,slow}.ts", "packages/{primitives,transport,client}/**"],
    rules: { "no-restricted-properties": ["error", bareAnySignal] },
  },
  {
    // The caller owns the time, so tests advance it instead of waiting. Other files of the server may join this list.
    files: [
      "apps/server/src/{auth/flows,deployed-apps/cron,http/limits,sessions/waiting}/**/*.ts",
      "apps/server/src/auth/providers/{asked-provider,stores/renewed-token}.ts",
      "apps/server/src/auth/sign-in-links/sign-in-links.ts",
      "apps/server/src/console/{console-links,console-sessions,oidc/person-checks}.ts",
      "apps/server/src/sessions/pools/{plan,pool-waiters}.ts",
      "packages/contract/src/logins/flow-state.ts",
    ],
    excludeFiles: ["**/*.{test,slow}.ts"],
    rules: {
      "no-restricted-properties": [
        "error",
        bareAnySignal,
        { object: "Date", property: "now", message: "Take `now` or `nowMs` from the caller: time decides here." },
      ],
    },
  },
  { files: ["apps/{bench,demo}/src/**/*.ts", "apps/e2e/src/newcomers/**", "tools/**"], rules: { "no-console": "off" } },
];

export default defineConfig({
  plugins: ["typescript"],
  categories: { correctness: "off" },
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: "error" },
  env: { builtin: true, node: true },
  ignorePatterns: ["**/dist/", "**/coverage/", "**/node_modules/"],
  rules: {
    ...errors(always),
    "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
  },
  overrides,
});
