import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { flattenTypes } from "./flat-types.mjs";

const source = `import * as z from "zod/mini";
export type Schema<Output, Input = Output> = z.ZodMiniType<Output, Input>;
export interface Part extends z.output<typeof Part> {}
export const Part = z.object({
  /** In pixels. */
  width: z.int(),
});
export interface Whole extends z.output<typeof Whole> {}
export const Whole = z.object({
  /** A named type. */
  part: z.optional(Part),
  /** An anonymous one. */
  place: z.object({
    /** From the left. */
    x: z.nullable(z.number()),
  }),
  flags: z.array(z.union([z.boolean(), z.literal("auto")])),
});
export interface Query extends z.input<typeof Query> {}
export const Query = z.object({ limit: z._default(z.int(), 20) });
export interface Open extends z.output<typeof Open> {}
export const Open = z.catchall(z.object({ id: z.optional(z.string()) }), z.string());
export type Either = z.output<typeof Either>;
export const Either = z.union([Part, Whole]);
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "flat-types-"));
  mkdirSync(join(folder, "src"));
  mkdirSync(join(folder, "node_modules"));
  const schemas = createRequire(new URL("../packages/schemas/package.json", import.meta.url));
  symlinkSync(dirname(schemas.resolve("zod/package.json")), join(folder, "node_modules/zod"));
  writeFileSync(join(folder, "src/index.ts"), source);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    declaration: true,
    declarationMap: true,
    module: "nodenext",
    target: "es2023",
    rootDir: "src",
    outDir: "dist",
    types: [],
  };
  writeFileSync(join(folder, "tsconfig.build.json"), JSON.stringify({ compilerOptions, include: ["src"] }));
  const tsc = createRequire(import.meta.url).resolve("typescript/lib/tsc.js");
  execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: folder });
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

it("writes the fields of derived interfaces with their comments, and names other interfaces", () => {
  expect(flattenTypes(folder)).toBe(5);
  const text = readFileSync(join(folder, "dist/index.d.ts"), "utf8");
  expect(text).toContain(`export interface Part {
    /** In pixels. */
    width: number;
}
`);
  expect(text).toContain(`export interface Whole {
    /** An anonymous one. */
    place: {
        /** From the left. */
        x: number | null;
    };
    flags: (boolean | "auto")[];
    /** A named type. */
    part?: Part | undefined;
}
`);
  expect(text).toContain("export type Either = Part | Whole;");
});

it("writes the type of an interface to the constant of the same name", () => {
  const text = readFileSync(join(folder, "dist/index.d.ts"), "utf8");
  expect(text).toContain("export declare const Part: Schema<Part>;");
  expect(text).toContain("export declare const Whole: Schema<Whole>;");
  expect(text).toContain(`export declare const Query: Schema<{
    limit: number;
}, Query>;`);
  expect(text).toContain("export declare const Either: Schema<Either>;");
});

it("lets the values of an open object be missing, as its optional fields can be", () => {
  const text = readFileSync(join(folder, "dist/index.d.ts"), "utf8");
  expect(text).toContain("[key: string]: string | undefined;");
});

it("changes nothing the second time", () => {
  expect(flattenTypes(folder)).toBe(0);
});
