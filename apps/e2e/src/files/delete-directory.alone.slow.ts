import { eventually } from "@shoal/testkit";
import { once } from "node:events";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allOf } from "../testing/all-of.ts";
import { placements } from "../testing/components.ts";
import { codeOf, refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";
import { hostPathOf } from "../testing/session-folder.ts";
import { useSession } from "../testing/session.ts";
import { node, startNode } from "../testing/writer.ts";
import { linkMode, zipOf } from "../testing/zip.ts";

/** Folders with 100 files each, some of them deep. */
const tree = (folders: number) => `import { mkdirSync, writeFileSync } from "node:fs";
  for (let i = 0; i < ${folders}; i++) { const dir = "tree/" + i + (i % 3 === 0 ? "/a/b/c" : ""); mkdirSync(dir, { recursive: true }); for (let j = 0; j < 100; j++) writeFileSync(dir + "/f" + j, "x"); }`;
const largeTree = tree(300);
const smallTree = tree(60);

describe.each(placements)("deleting a directory in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("of a session", () => {
    const test = useService(() => ["--placement", placement, "--session-disk-mb", "0"]);
    const session = useSession(test);

    async function prepared() {
      const path = await session.freshDirectory();
      return { path, onHost: await hostPathOf(test, session.id, path) };
    }

    it("removes 30,000 files while other operations continue", async () => {
      const { onHost, path } = await prepared();
      let during = 0;
      // The first answers of both may arrive together on a busy machine.
      for (let attempt = 0; during === 0 && attempt < 5; attempt += 1) {
        await node(onHost, largeTree);
        const began = performance.now();
        const deleting = session.fs.deleteDirectory(session.id, { path: `${path}/tree` }).then(() => "deleted");
        const waitsMs: number[] = [];
        for (;;) {
          const startedAt = performance.now();
          await session.fs.fileInfo(session.id, { path });
          waitsMs.push(performance.now() - startedAt);
          if ((await Promise.race([deleting, Promise.resolve("not yet")])) === "deleted") break;
          during += 1;
        }
        // A blocked operation would wait for most of the deletion, however slow the disk is.
        expect(Math.max(...waitsMs)).toBeLessThan(Math.max(3000, (performance.now() - began) / 2));
      }
      expect(during).toBeGreaterThan(0);
      expect(readdirSync(onHost)).toEqual([]);
      expect(await codeOf(session.fs.deleteDirectory(session.id, { path: `${path}/tree` }))).toBe("404 not_found");
    });

    it("reports each of 6,000 files to a watch", async () => {
      const { onHost, path } = await prepared();
      await node(onHost, smallTree);
      const { watch_id } = await session.fs.watch.start(session.id, { path: `${path}/tree`, recursive: true });
      const told = allOf(session.fs.watch.events(session.id, watch_id));
      await session.fs.deleteDirectory(session.id, { path: `${path}/tree` });
      const deleted = new Set((await told).filter(({ type }) => type === "DELETE").map((event) => event.path));
      expect(deleted.size).toBe(6_000 + 60 + 60 + 1);
    });

    it("through a symbolic link in the path removes the target's content; the link itself is not a directory", async () => {
      const { onHost, path } = await prepared();
      await node(onHost, smallTree.replaceAll("tree/", "real/tree/"));
      await session.fs.uploadZip(session.id, {
        dest_path: path,
        zip_file: await zipOf([
          { name: "link", content: "real", mode: linkMode },
          { name: "kept/file", content: "x" },
        ]),
      });
      await session.fs.uploadZip(session.id, {
        dest_path: `${path}/real`,
        zip_file: await zipOf([
          { name: "tree/out/x", content: "x" },
          { name: "tree/file-link", content: "0", mode: linkMode },
        ]),
      });
      expect(await codeOf(session.fs.deleteDirectory(session.id, { path: `${path}/link` }))).toBe(
        "400 not_a_directory",
      );
      await session.fs.deleteDirectory(session.id, { path: `${path}/link/tree` });
      expect(readdirSync(join(onHost, "real"))).toEqual([]);
      expect(readdirSync(onHost).sort()).toEqual(["kept", "link", "real"]);
    });

    it("while another process writes to it completes, or fails with the remaining content", async () => {
      const { onHost, path } = await prepared();
      const stop = join(onHost, "stop");
      const writer = startNode(
        onHost,
        `import { existsSync, mkdirSync, writeFileSync } from "node:fs";
         for (let i = 0; !existsSync("stop"); i++) { try { mkdirSync("busy/" + (i % 20) + "/x", { recursive: true }); writeFileSync("busy/" + (i % 20) + "/f" + i, "x"); } catch {} }`,
      );
      const ended = once(writer, "exit");
      try {
        await eventually("it writes", () => existsSync(join(onHost, "busy/19")));
        for (let round = 0; round < 3; round++) {
          const deleting = session.fs.deleteDirectory(
            session.id,
            { path: `${path}/busy` },
            { missing_ok: true },
            { maxRetries: 0 },
          );
          if ((await Promise.allSettled([deleting]))[0].status === "fulfilled") continue;
          const outcome = await refusalOf(deleting);
          expect(outcome).toMatchObject({ status: 409, code: "directory_busy" });
          expect(outcome.message).toContain(`${path}/busy`);
        }
      } finally {
        writeFileSync(stop, "");
        await ended;
      }
      await session.fs.deleteDirectory(session.id, { path: `${path}/busy` }, { missing_ok: true });
      expect(existsSync(join(onHost, "busy"))).toBe(false);
    });

    it("runs once for two requests at the same time", async () => {
      const { onHost, path } = await prepared();
      await node(onHost, smallTree);
      const deletions = [1, 2].map(() => session.fs.deleteDirectory(session.id, { path: `${path}/tree` }));
      const settled = await Promise.allSettled(deletions);
      const outcomes: string[] = [];
      for (const [index, deletion] of deletions.entries())
        outcomes.push(settled[index]?.status === "fulfilled" ? "200" : await codeOf(deletion));
      expect(outcomes.every((outcome) => outcome === "200" || outcome === "404 not_found")).toBe(true);
      expect(outcomes).toContain("200");
      expect(readdirSync(onHost)).toEqual([]);
    });
  });
});
