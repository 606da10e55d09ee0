import { isDeepStrictEqual } from "node:util";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CommandSpec } from "../core/types.ts";
import { builtTable, sampleCall } from "../testing/arguments.ts";
import { type EchoService, startEchoService } from "../testing/echo-service.ts";
import { shoal } from "../testing/shoal.ts";

const table = builtTable();
const apiKey = "sk_test_0123456789";
let service: EchoService;
const folder = mkdtempSync(join(tmpdir(), "shoal-every-"));
const file = join(folder, "file.zip");
writeFileSync(file, Buffer.from(`504b0506${"00".repeat(18)}`, "hex"));
beforeAll(async () => {
  service = await startEchoService();
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

const run = (...args: string[]) =>
  shoal(args, {
    env: { SHOAL_BASE_URL: service.baseUrl, SHOAL_API_KEY: apiKey, SHOAL_DATA_DIR: folder, XDG_CONFIG_HOME: folder },
  });

/** Handwritten commands with other arguments than their operation. */
const special: Readonly<
  Record<string, { readonly args: readonly string[]; readonly query?: object; readonly body?: object }>
> = {
  "browsers.computer.batch": {
    args: ["some-id", "--actions", '[{"type":"scroll","scroll":{"x":1,"y":2,"delta_y":3}}]'],
    body: { actions: [{ type: "scroll", scroll: { x: 1, y: 2, delta_y: 3 } }] },
  },
  "browsers.render": {
    args: ["--url", "https://example.com/", "--outputs", "text"],
    body: { url: "https://example.com/" },
  },
  "schedules.create": {
    args: ["--flow", "some-flow", "--cron", "0 9 * * 1-5"],
    body: { flow: "some-flow", cron: "0 9 * * 1-5" },
  },
  "browsers.logs.stream": {
    args: ["some-id", "--source", "path", "--path", "/home/shoal/a.log"],
    query: { source: "path", path: "/home/shoal/a.log" },
  },
  "search.contents": { args: ["some-id", "--limit", "3"], body: { limit: 3 } },
  "browsers.fs.readFile": { args: ["some-id", "/home/shoal/a"], query: { path: "/home/shoal/a" } },
  "browsers.fs.downloadDirZip": { args: ["some-id", "/home/shoal/a"], query: { path: "/home/shoal/a" } },
  "browsers.fs.writeFile": { args: ["some-id", "/home/shoal/a", "-f", file], query: { path: "/home/shoal/a" } },
  "browsers.fs.upload": {
    args: ["some-id", file, "--to", "/home/shoal"],
    body: ["files[0][dest_path]", "files[0][file]"],
  },
  "browsers.loadExtensions": { args: ["some-id", file], body: ["extensions[0][name]", "extensions[0][zip_file]"] },
  "browsers.fs.uploadZip": { args: ["some-id", file, "--to", "/home/shoal"], body: ["dest_path", "zip_file"] },
};

function callOf(spec: CommandSpec) {
  const own = special[spec.operationId];
  if (own === undefined) {
    // A PATCH needs at least one field.
    const first =
      spec.method === "PATCH" ? spec.flags.find(({ place, kind }) => place === "body" && kind !== "json") : undefined;
    return sampleCall(spec, file, (flag) => flag.required || flag === first);
  }
  return {
    args: [...spec.words, ...own.args],
    params: Object.fromEntries(spec.params.map(({ name }) => [name, `some-${name.replaceAll("_", "-")}`])),
    query: own.query ?? {},
    body: own.body ?? {},
  };
}

/** The output formats of this run: the first one in `npm test`, the others in the slow suite (see CONTRIBUTING.md). */
function formatsOf({ operationId, result }: CommandSpec): readonly string[][] {
  const hasJson =
    result !== "bytes" &&
    !["browsers.fs.writeFile", "browsers.fs.upload", "browsers.fs.uploadZip", "browsers.loadExtensions"].includes(
      operationId,
    );
  const formats = hasJson ? [["-o", "json"], []] : [[]];
  const { SHOAL_TEST_VARIANTS: variants = "first" } = process.env;
  if (variants === "all") return formats;
  return variants === "first" ? formats.slice(0, 1) : formats.slice(1);
}

const tried = table.filter((spec) => formatsOf(spec).length > 0);
describe.each(tried.map((spec) => [spec.words.join(" "), spec] as const))("shoal %s", (_name, spec) => {
  it("sends its values and prints the result", { concurrent: true }, async () => {
    const { args, params, query, body } = callOf(spec);
    const flags = spec.entry.confirm === undefined ? [] : ["--yes"];
    for (const format of formatsOf(spec)) {
      const { status, stdout, stderr } = await run(...args, ...flags, ...format);
      expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
      const call = service.calls.find(
        (each) => each.operationId === spec.operationId && isDeepStrictEqual({ ...each.params }, params),
      );
      expect(call?.params).toEqual(params);
      expect(call?.query).toMatchObject(query);
      if (spec.body === "json") expect(call?.body).toMatchObject(body);
      if (spec.body === "multipart")
        expect(call?.body).toEqual(
          Array.isArray(body)
            ? body
            : expect.arrayContaining(
                Object.keys(body).filter((name) => typeof Object(body[name as never]) !== "object"),
              ),
        );
      const sample = service.sample(spec.operationId);
      if (format.length > 0) expect(stdout === "" ? undefined : JSON.parse(stdout)).toEqual(expectedJson(spec, sample));
      else if (spec.result === "bytes") expect(stdout).toBe(`bytes of ${spec.operationId}`);
      else if (spec.result === "empty")
        expect(stderr).toMatch(spec.operationId in special || spec.entry.done !== undefined ? /^[A-Z].*\.\n$/ : /^$/);
      else expect(stdout).not.toBe("");
    }
  });
});

function expectedJson(spec: CommandSpec, sample: unknown): unknown {
  return spec.result === "empty"
    ? undefined
    : spec.result === "page" || spec.result === "tokenPage" || spec.entry.columns
      ? [sample]
      : sample;
}
