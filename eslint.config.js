import js from "@eslint/js";
import { defineConfig, globalIgnores } from "eslint/config";
import reactHooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";
import { steadyTests } from "./tools/steady-tests.mjs";

const pureZod = {
  selector:
    "ImportDeclaration[source.value=/^zod/] > :matches(ImportSpecifier[imported.name='z'], ImportDefaultSpecifier)",
  message: "Write `import * as z`: the named export defeats tree-shaking.",
};
const entryPointsOnly = {
  group: ["@shoal/*/src/**", "@shoal/*/dist/**"],
  message: "Import the package's entry point.",
};
const noNode = {
  group: ["node:*"],
  message: "This package runs in a browser too: put Node code behind the ./node entry.",
};

/** Tests list cases, benches list measurements. */
const notLimited = ["**/*.{test,slow,test-d}.{ts,tsx}", "**/testing/**", "apps/{bench,e2e}/**"];
const longFiles = {
  "apps/server/src/sessions/browsers/sessions.ts": 463,
  "packages/database/src/tables.ts": 462,
  "packages/instance/src/main/program.ts": 406,
  "packages/placement/src/create-placement.ts": 493,
  "packages/placement/src/egress/gateway.ts": 404,
};
const longFunctions = {
  "apps/console/src/pages/projects/project-page.tsx": 109,
  "apps/console/src/pages/usage/usage-page.tsx": 120,
  "apps/console/src/player/player.tsx": 94,
  "packages/mcp/src/resources/resources.ts": 92,
  "packages/schemas/src/auth/managed-auth.ts": 99,
};

export default defineConfig(
  globalIgnores(["**/dist/", "**/coverage/", "**/node_modules/"]),
  js.configs.recommended,
  {
    files: ["**/*.{ts,tsx}"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "no-restricted-syntax": ["error", pureZod],
      "no-restricted-imports": ["error", { patterns: [entryPointsOnly] }],
      // Four, for what the wire makes four: the client's methods take a session, something in it, a body and options; ServiceError a status, a code, a message and options.
      // Three would ask some 150 functions for an object that only carries their arguments.
      "max-params": ["error", 4],
      "no-console": "error",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // An operation that only validates or resolves keeps `async` so that what it throws is a rejection.
      "@typescript-eslint/require-await": "off",
      // `interface Profile extends z.output<…> {}` is what keeps hovers short.
      "@typescript-eslint/no-empty-object-type": ["error", { allowInterfaces: "with-single-extends" }],
      "@typescript-eslint/no-invalid-void-type": "off",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
    },
  },
  {
    files: ["apps/console/src/**/*.{ts,tsx}"],
    extends: [reactHooks.configs.flat.recommended],
    // `incompatible-library` is for React's compiler, which the console does not use.
    rules: {
      "react-hooks/incompatible-library": "off",
      "no-restricted-imports": ["error", { patterns: [entryPointsOnly, noNode] }],
    },
  },
  {
    files: ["packages/{schemas,contract,transport,client}/src/**/*.ts"],
    ignores: ["packages/*/src/node/**", "**/*.test.ts"],
    rules: { "no-restricted-imports": ["error", { patterns: [entryPointsOnly, noNode] }] },
  },
  {
    files: ["**/*.{js,mjs}"],
    languageOptions: {
      globals: {
        process: "readonly",
        console: "readonly",
        URL: "readonly",
        Buffer: "readonly",
        setTimeout: "readonly",
        fetch: "readonly",
      },
    },
  },
  {
    files: ["{packages,apps}/*/src/**/*.{ts,tsx}"],
    ignores: notLimited,
    rules: {
      "max-lines": ["error", 400],
      "max-lines-per-function": ["error", 80],
      "max-len": [
        "error",
        {
          code: 140,
          ignoreComments: true,
          ignoreRegExpLiterals: true,
          ignoreStrings: true,
          ignoreTemplateLiterals: true,
        },
      ],
    },
  },
  // Longer than the limit when it became a rule: they shrink to it, and the numbers with them.
  ...Object.entries(longFiles).map(([file, lines]) => ({ files: [file], rules: { "max-lines": ["error", lines] } })),
  ...Object.entries(longFunctions).map(([file, lines]) => ({
    files: [file],
    rules: { "max-lines-per-function": ["error", lines] },
  })),
  {
    files: ["**/*.{test,slow}.{ts,tsx}", "**/src/**/testing/**/*.ts", "tools/*.test.ts"],
    ignores: ["packages/testkit/**", "apps/e2e/src/{contract,behaviour,faults}/**", "apps/cli/src/**"],
    plugins: { steady: steadyTests },
    rules: { "steady/no-own-limits": "error", "steady/no-sleeps": "error" },
  },
  {
    // The caller owns the time, so tests advance it instead of waiting. Other files of the server may join this list.
    files: [
      "apps/server/src/{auth/flows,deployed-apps/cron,http/limits,sessions/waiting}/**/*.ts",
      "apps/server/src/auth/providers/{asked-provider,stores/renewed-token}.ts",
      "apps/server/src/auth/sign-in-links/handoffs.ts",
      "apps/server/src/console/{console-links,console-sessions,oidc/person-checks}.ts",
      "apps/server/src/sessions/pools/{plan,pool-waiters}.ts",
      "packages/contract/src/logins/flow-state.ts",
    ],
    ignores: ["**/*.{test,slow}.ts"],
    rules: {
      "no-restricted-properties": [
        "error",
        { object: "Date", property: "now", message: "Take `now` or `nowMs` from the caller: time decides here." },
      ],
    },
  },
  { files: ["apps/{bench,demo}/src/**/*.ts", "tools/**"], rules: { "no-console": "off" } },
);
