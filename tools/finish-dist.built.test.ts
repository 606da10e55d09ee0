import type { Endpoint } from "../packages/contract/src/index.ts";
import type { Schema } from "../packages/schemas/src/index.ts";
import { build } from "esbuild";
import { globSync, readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { reachableFrom } from "./finish-dist/calls.mjs";
import { applyEdits } from "./finish-dist/edits.mjs";
import { pureMarks } from "./finish-dist/pure-marks.mjs";

// Reads the output of `npm run build`.
const root = join(import.meta.dirname, "..");
const client = join(root, "packages/client");
const modules = (name: string) =>
  globSync("**/*.js", { cwd: join(root, "packages", name, "dist"), exclude: ["bundle"] }).map((path) =>
    join(root, "packages", name, "dist", path),
  );

describe("built modules", () => {
  it.each(["schemas", "contract", "transport", "client"])("of %s mark all calls at the top level as pure", (name) => {
    const paths = modules(name);
    expect(paths.length).toBeGreaterThan(5);
    const unmarked = paths.filter((path) => pureMarks(readFileSync(path, "utf8")).length > 0);
    expect(unmarked).toEqual([]);
  });

  it("add only the operations in use to a bundle", async () => {
    const { outputFiles } = await build({
      stdin: { contents: 'import { getProfile } from "@shoal/contract"; console.log(getProfile);', resolveDir: client },
      bundle: true,
      format: "esm",
      platform: "browser",
      write: false,
    });
    const text = outputFiles[0]?.text ?? "";
    expect(text.match(/operationId: "[\w.]+"/g)).toEqual(['operationId: "profiles.get"']);
    expect(text).not.toContain("BrowserShape");
  });

  it.each(["dist", "dist/calls"])("in %s map to their sources after the edits", (folder) => {
    const path = join(root, "packages/contract", folder, "sessions/profiles.js");
    const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8")) as SourceMapPayload);
    const lines = readFileSync(path, "utf8").split("\n");
    const found = lines.flatMap((line, index) =>
      [...line.matchAll(/json\(\w+\)|defineEndpoint\(/g)].map((match) => ({
        text: match[0],
        entry: map.findEntry(index, match.index),
      })),
    );
    expect(found.length).toBeGreaterThan(5);
    for (const { text, entry } of found) {
      if (!("originalSource" in entry)) throw new Error(`${text} has no source`);
      const source = readFileSync(join(dirname(path), entry.originalSource), "utf8").split("\n");
      expect(source[entry.originalLine]?.slice(entry.originalColumn)).toMatch(
        text.startsWith("json") ? text : /^defineEndpoint/,
      );
    }
  });

  it("have a second version for clients: the same operations without fields that clients do not read", async () => {
    const [whole, calls] = await Promise.all(
      ["dist", "dist/calls"].map(
        async (folder) =>
          (await import(join(root, "packages/contract", folder, "index.js"))) as Record<string, Partial<Endpoint>>,
      ),
    );
    if (whole === undefined || calls === undefined) throw new Error("It is not built.");
    expect(Object.keys(calls)).toEqual(Object.keys(whole));
    const callFields = ({ operationId, method, path, auth, body, responses = {}, ...rest }: Partial<Endpoint>) => ({
      operationId,
      method,
      path,
      auth,
      body: body?.kind,
      direct: rest.inSession?.direct,
      returnsSessions: rest.returnsSessions,
      responses: Object.entries(responses).map(([status, { kind }]) => [status, kind]),
    });
    expect(Object.values(calls).map(callFields)).toEqual(Object.values(whole).map(callFields));
    expect(
      Object.values(calls).filter(
        ({ errors, handoff, inSession, params, plane, query, summary }) =>
          summary ?? query ?? params ?? errors ?? handoff ?? plane ?? inSession?.handoff,
      ),
    ).toEqual([]);
  });

  it("check answers for clients with smaller schemas", async () => {
    const { outputFiles } = await build({
      stdin: { contents: 'export { getProfile, streamTelemetry } from "@shoal/contract/calls";', resolveDir: client },
      bundle: true,
      format: "esm",
      platform: "browser",
      write: false,
    });
    const text = outputFiles[0]?.text ?? "";
    expect(text).not.toMatch(/ZodMini(Default|DiscriminatedUnion|Enum|ISO)/);
    const calls = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as Record<string, Endpoint>;
    const content = calls.getProfile?.responses[200];
    const check = (value: unknown) => content?.kind === "json" && (content.schema as Schema).safeParse(value).success;
    const profile = { id: "p1", name: "x".repeat(10_000), created_at: "2026-01-31T12:00:00.000Z" };
    expect([check(profile), check({ ...profile, created_at: "2026-01-31T12:00:00+05:30" })]).toEqual([true, true]);
    expect([check({ ...profile, id: 7 }), check({ ...profile, created_at: "yesterday" })]).toEqual([false, false]);
    const events = calls.streamTelemetry?.responses[200];
    const errorOf = (event: object) =>
      events?.kind === "events" ? (events.event as Schema).safeParse({ seq: 1, event }).error?.issues[0] : null;
    const page = { ts: 1, type: "page_load", category: "page", source: { kind: "cdp" }, data: {} };
    expect([errorOf(page), errorOf({ type: "of a newer service" })]).toEqual([undefined, undefined]);
    expect(errorOf({ ...page, ts: "1" })).toMatchObject({ code: "invalid_type", path: ["event", "ts"] });
    expect(errorOf({ ...page, type: 7 })).toMatchObject({ code: "invalid_type", path: ["event", "type"] });
  });

  it.each(["schemas", "contract", "transport", "client"])(
    "of %s do not import Node's modules from the main entry",
    (name) => {
      const manifest = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8")) as {
        dependencies?: Record<string, string>;
      };
      const allowed = new Set([...Object.keys(manifest.dependencies ?? {}), "zod"]);
      for (const folder of ["dist", "dist/bundle"]) {
        const texts = reachableFrom("index.js", (file: string) =>
          readFileSync(join(root, "packages", name, folder, file), "utf8"),
        ) as Map<string, string>;
        expect(texts.size).toBeGreaterThan(0);
        const specifiers = [...texts.values()]
          .flatMap((text) => ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName))
          .filter((specifier) => !specifier.startsWith("."));
        const foreign = specifiers.filter(
          (specifier) =>
            !allowed.has(
              specifier
                .split("/")
                .slice(0, specifier.startsWith("@") ? 2 : 1)
                .join("/"),
            ),
        );
        expect(foreign).toEqual([]);
      }
    },
  );

  it("are one file for Node, without unused parts of zod", () => {
    expect(
      relative(root, ts.sys.realpath?.(join(client, "node_modules/@shoal/schemas/dist/bundle/index.js")) ?? ""),
    ).toBe("packages/schemas/dist/bundle/index.js");
    const bundle = readFileSync(join(root, "packages/schemas/dist/bundle/index.js"), "utf8");
    expect(bundle).not.toMatch(/from "zod/);
    expect(readFileSync(join(root, "packages/schemas/dist/bundle/LICENSE-zod.txt"), "utf8")).toContain("MIT License");
  });
});

describe("declarations", () => {
  const path = join(client, "hover.ts");
  const text = `
    import type { ListProfiles, Profile } from "@shoal/schemas";
    import { getProfile } from "@shoal/contract";
    import type { RequestOf } from "@shoal/contract";
    export const own = (profile: Profile) => profile.last_used_at;
    export const spread = (query: ListProfiles) => query.limit;
    export const nested = (request: RequestOf<typeof getProfile>) => request.params.id_or_name;`;
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
    strict: true,
    skipLibCheck: true,
    types: [],
  };
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [path],
    getScriptVersion: () => "1",
    getScriptSnapshot: (name) => {
      const content = name === path ? text : ts.sys.readFile(name);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCurrentDirectory: () => client,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (name) => name === path || ts.sys.fileExists(name),
    readFile: (name) => ts.sys.readFile(name),
    directoryExists: (name) => ts.sys.directoryExists(name),
    realpath: (name) => ts.sys.realpath?.(name) ?? name,
  });

  it.each([
    [".last_used_at", "When a browser last started with it; absent while none did."],
    [".limit", "Items on a page, 1 to 100."],
    [".id_or_name", "The profile's id, or its name."],
  ])("show the comment of %s in an editor", (field, comment) => {
    const info = service.getQuickInfoAtPosition(path, text.indexOf(field) + 1);
    expect(ts.displayPartsToString(info?.documentation)).toBe(comment);
    expect(
      service
        .getProgram()
        ?.getSourceFiles()
        .some((file) => file.fileName.endsWith("packages/schemas/dist/sessions/profile.d.ts")),
    ).toBe(true);
  });
});

describe("edits", () => {
  it("adjust the source map for inserted text, inserted lines and removed lines", () => {
    const { text, map } = applyEdits(
      "a b\nc d",
      [
        { at: 2, text: "/* x */ " },
        { at: 4, text: "/* y\n */ " },
      ],
      { mappings: "AAAA,EAAE;AACF,EAAE" },
    );
    const cut = applyEdits("a b\nc d", [{ at: 1, remove: 4 }], { mappings: "AAAA,EAAE;AACF,EAAE" });
    expect(cut).toMatchObject({ text: "a d", map: { mappings: "AAAA,EACE" } });
    expect(text).toBe("a /* x */ b\n/* y\n */ c d");
    const moved = new SourceMap({
      ...map,
      version: 3,
      file: "f",
      sources: ["s"],
      names: [],
    } as unknown as SourceMapPayload);
    const originOf = (line: number, column: number) => {
      const entry = moved.findEntry(line, column);
      return "originalLine" in entry ? [entry.originalLine, entry.originalColumn] : undefined;
    };
    expect([originOf(0, 0), originOf(0, 10), originOf(2, 4), originOf(2, 6)]).toEqual([
      [0, 0],
      [0, 2],
      [1, 0],
      [1, 2],
    ]);
  });
});
