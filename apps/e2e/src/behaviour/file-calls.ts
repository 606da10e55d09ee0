import type { FileSystemEvent, Shoal } from "@shoal/client";
import { ApiError } from "@shoal/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linkMode, zipOf } from "../testing/zip.ts";
import { differences, replay } from "../testing/replay.ts";
import type { ServiceUnderTest } from "./open-service.ts";

/** One call on a session's files. Paths are relative to the directory of the run. */
type Step =
  | { readonly do: "write"; readonly path: string; readonly content: string; readonly mode: string | undefined }
  | { readonly do: "read" | "list" | "info" | "delete" | "zip"; readonly path: string }
  | { readonly do: "makeDirectory"; readonly path: string; readonly mode: string | undefined }
  | { readonly do: "deleteDirectory"; readonly path: string; readonly missingOk: boolean }
  | { readonly do: "chmod"; readonly path: string; readonly mode: string }
  | { readonly do: "move"; readonly path: string; readonly to: string }
  | { readonly do: "upload"; readonly paths: readonly string[] }
  | {
      readonly do: "unzip";
      readonly path: string;
      readonly entries: readonly { readonly name: string; readonly content: string; readonly mode?: number }[];
    };

// Few names, so that paths collide: `l` and `m` are mostly links.
const path = fc
  .array(fc.constantFrom("a", "b", "c", "l", "m"), { minLength: 1, maxLength: 3 })
  .map((names) => names.join("/"));
const content = fc.constantFrom("", "x", "hello", "y".repeat(70_000));
// The owner keeps all permissions, so that every directory can be listed.
const mode = fc.constantFrom("700", "755", "0777", "1777", "744");
const entry = fc.oneof(
  fc.record({ name: path, content }),
  path.map((name) => ({ name: `${name}/`, content: "" })),
  fc.record({
    name: fc.constantFrom("l", "m", "a/l", "b/m"),
    content: fc.constantFrom("a", "b/c", "c", "l", "m", "../a", "./b"),
    mode: fc.constant(linkMode),
  }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("write" as const),
      path,
      content,
      mode: fc.option(mode, { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("makeDirectory" as const),
      path,
      mode: fc.option(mode, { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("read" as const, "list" as const, "info" as const, "delete" as const, "zip" as const),
      path,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("deleteDirectory" as const), path, missingOk: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("chmod" as const), path, mode }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("move" as const), path, to: path }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("upload" as const), paths: fc.array(path, { minLength: 1, maxLength: 3 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("unzip" as const),
      path,
      entries: fc.array(entry, { minLength: 1, maxLength: 4 }),
    }),
  },
);

/** A session, and the run's directory in it. */
interface Place {
  readonly shoal: Shoal;
  readonly id: string;
  readonly home: string;
}

async function carryOut({ home, id, shoal }: Place, step: Step): Promise<unknown> {
  const { fs } = shoal.browsers;
  const at = (relative: string) => `${home}/${relative}`;
  switch (step.do) {
    case "write":
      return fs.writeFile(id, step.content, {
        path: at(step.path),
        ...(step.mode !== undefined && { mode: step.mode }),
      });
    case "read":
      return fs.readText(id, { path: at(step.path) });
    case "list":
      return fs.listFiles(id, { path: at(step.path) });
    case "info":
      return fs.fileInfo(id, { path: at(step.path) });
    case "delete":
      return fs.deleteFile(id, { path: at(step.path) });
    case "zip":
      return new Response((await fs.downloadDirZip(id, { path: at(step.path) })).stream).arrayBuffer();
    case "makeDirectory":
      return fs.createDirectory(id, { path: at(step.path), ...(step.mode !== undefined && { mode: step.mode }) });
    case "deleteDirectory":
      return fs.deleteDirectory(id, { path: at(step.path) }, { missing_ok: step.missingOk });
    case "chmod":
      return fs.setFilePermissions(id, { path: at(step.path), mode: step.mode });
    case "move":
      return fs.move(id, { src_path: at(step.path), dest_path: at(step.to) });
    case "upload":
      return fs.upload(id, { files: step.paths.map((name) => ({ dest_path: at(name), file: new Blob([name]) })) });
    case "unzip":
      return fs.uploadZip(id, { dest_path: at(step.path), zip_file: await zipOf(step.entries) });
  }
}

/** The status of a refusal, or 200. */
async function statusOf(place: Place, step: Step): Promise<number> {
  try {
    await carryOut(place, step);
    return 200;
  } catch (error) {
    if (!ApiError.isInstance(error)) throw error;
    return error.status;
  }
}

/** Everything below a directory; links are not followed. */
async function treeOf({ home, id, shoal }: Place, below = ""): Promise<Map<string, boolean>> {
  const found = new Map<string, boolean>();
  for (const { is_dir, name } of await shoal.browsers.fs.listFiles(id, { path: home + below })) {
    found.set(`${below}/${name}`, is_dir);
    if (is_dir) for (const inner of await treeOf({ home, id, shoal }, `${below}/${name}`)) found.set(...inner);
  }
  return found;
}

/** Events of a watch until a last, marker file appears. */
async function toldIn({ home, id, shoal }: Place, watchId: string): Promise<FileSystemEvent[]> {
  const { fs } = shoal.browsers;
  await fs.writeFile(id, "", { path: `${home}/last` });
  const events: FileSystemEvent[] = [];
  for await (const event of fs.watch.events(id, watchId)) {
    if (event.path === `${home}/last`) break;
    const { dest_path } = event;
    events.push({
      ...event,
      path: event.path.slice(home.length),
      ...(dest_path !== undefined && { dest_path: dest_path.slice(home.length) }),
    });
  }
  await fs.watch.stop(id, watchId);
  await fs.deleteFile(id, { path: `${home}/last` });
  return events;
}

/**
 * Each run makes hundreds of requests: `npm test` has few, with other calls each time, and the slow suite the rest. So
 * few that a busy machine completes them: a run cannot be stopped, and its session is deleted at the end.
 */
const numRuns = process.env.SHOAL_TEST_VARIANTS === undefined ? 4 : 20;

/** Makes random calls on files. */
export function describeFileCalls(test: ServiceUnderTest): void {
  describe("any calls on files", () => {
    it("are answered or refused, and the events of a watch lead to the files that they leave", async () => {
      const { shoal } = test;
      const { session_id: id } = await shoal.browsers.create({ timeout_seconds: 3600 });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
          const home = `/home/shoal/${test.unique("run")}`;
          const place: Place = { shoal, id, home };
          await shoal.browsers.fs.createDirectory(id, { path: home });
          const { watch_id } = await shoal.browsers.fs.watch.start(id, { path: home, recursive: true });
          for (const next of steps) expect(await statusOf(place, next), JSON.stringify(next)).toBeLessThan(500);
          const tree = await treeOf(place);
          expect(differences(replay(new Map(), await toldIn(place, watch_id)), tree)).toEqual([]);
        }),
        { numRuns },
      );
      await shoal.browsers.delete(id);
    });
  });
}
