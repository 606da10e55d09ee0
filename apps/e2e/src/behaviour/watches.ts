import type { FileSystemEvent } from "@shoal/client";
import { describe, expect, it } from "vitest";
import { allOf } from "../testing/all-of.ts";
import { codeOf } from "../testing/refusal.ts";
import { zipOf } from "../testing/zip.ts";
import type { ServiceUnderTest } from "./open-service.ts";
import { useSessionOf } from "./session-under-test.ts";

/** Directory watches of changes made through the API. */
export function describeWatches(test: ServiceUnderTest): void {
  describe("directory watches", () => {
    const session = useSessionOf(test);

    /** As `CREATE a/`. Deletes a marker as last event, so that no timeout is needed. */
    async function told(home: string, recursive: boolean, change: () => Promise<unknown>): Promise<string[]> {
      const { fs, id } = session;
      const { watch_id } = await fs.watch.start(id, { path: home, recursive });
      const events = fs.watch.events(id, watch_id);
      await change();
      await fs.writeFile(id, "", { path: `${home}/end` });
      const lines: string[] = [];
      for await (const event of events) {
        if (event.name === "end") break;
        lines.push(lineOf(home, event));
      }
      await fs.watch.stop(id, watch_id);
      return lines;
    }
    const lineOf = (home: string, { dest_path, is_dir, path, type }: FileSystemEvent) =>
      `${type} ${path.slice(home.length + 1)}${is_dir === true ? "/" : ""}${dest_path === undefined ? "" : ` -> ${dest_path.slice(home.length + 1)}`}`;

    it("report written, moved and deleted files", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      const lines = await told(home, true, async () => {
        await fs.writeFile(id, "1", { path: `${home}/a` });
        await fs.writeFile(id, "2", { path: `${home}/a` });
        await fs.move(id, { src_path: `${home}/a`, dest_path: `${home}/b` });
        await fs.deleteFile(id, { path: `${home}/b` });
      });
      expect(lines).toEqual(["CREATE a", "WRITE a", "RENAME a -> b", "CREATE b", "DELETE b"]);
    });

    it("tell a reader when it has all changes so far", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      const { watch_id } = await fs.watch.start(id, { path: home });
      await fs.createDirectory(id, { path: `${home}/before` });
      const seen: string[] = [];
      const onCaughtUp = () => {
        seen.push("caught up");
        void fs.createDirectory(id, { path: `${home}/after` });
      };
      for await (const { name = "" } of fs.watch.events(id, watch_id, { onCaughtUp })) {
        seen.push(name);
        if (name === "after") break;
      }
      await fs.watch.stop(id, watch_id);
      expect(seen).toEqual(["before", "caught up", "after"]);
    });

    it("report directories with all their content", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      const lines = await told(home, true, async () => {
        await fs.writeFile(id, "1", { path: `${home}/x/y/file` });
        await fs.uploadZip(id, {
          dest_path: `${home}/zip`,
          zip_file: await zipOf([{ name: "deep/er.txt", content: "zipped" }]),
        });
        await fs.deleteDirectory(id, { path: `${home}/x` });
      });
      const created = lines.filter((line) => line.startsWith("CREATE")).sort();
      expect(created).toEqual([
        "CREATE x/",
        "CREATE x/y/",
        "CREATE x/y/file",
        "CREATE zip/",
        "CREATE zip/deep/",
        "CREATE zip/deep/er.txt",
      ]);
      expect(lines.filter((line) => line.startsWith("DELETE")).sort()).toEqual([
        "DELETE x/",
        "DELETE x/y/",
        "DELETE x/y/file",
      ]);
      expect(lines.at(-1)).toBe("DELETE x/");
    });

    it("report one level unless they are recursive", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      await fs.createDirectory(id, { path: `${home}/old` });
      const lines = await told(home, false, async () => {
        await fs.createDirectory(id, { path: `${home}/new/deep` });
        await fs.writeFile(id, "1", { path: `${home}/old/hidden` });
        await fs.writeFile(id, "1", { path: `${home}/seen` });
        await fs.move(id, { src_path: `${home}/old`, dest_path: `${home}/renamed` });
      });
      expect(lines).toEqual(["CREATE new/", "CREATE seen", "RENAME old/ -> renamed", "CREATE renamed/"]);
    });

    it("report moves in and out, with everything below", async () => {
      const { fs, id } = session;
      const [home, elsewhere] = [await session.freshDirectory(), await session.freshDirectory()];
      await fs.writeFile(id, "1", { path: `${home}/out/deep/f` });
      await fs.writeFile(id, "1", { path: `${elsewhere}/in/deep/f` });
      const lines = await told(home, true, async () => {
        await fs.move(id, { src_path: `${elsewhere}/in`, dest_path: `${home}/in` });
        await fs.move(id, { src_path: `${home}/out`, dest_path: `${elsewhere}/out` });
        await fs.writeFile(id, "1", { path: `${elsewhere}/out/unseen` });
      });
      expect(lines.slice().sort()).toEqual([
        "CREATE in/",
        "CREATE in/deep/",
        "CREATE in/deep/f",
        "DELETE out/",
        "DELETE out/deep/",
        "DELETE out/deep/f",
      ]);
    });

    it("end with their directory, and stay readable for late readers", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      const { watch_id } = await fs.watch.start(id, { path: home, recursive: true });
      await fs.writeFile(id, "1", { path: `${home}/f` });
      await fs.deleteDirectory(id, { path: home });
      for (let reader = 0; reader < 2; reader++) {
        const events = await allOf(fs.watch.events(id, watch_id));
        expect(events.map(({ type, path }) => `${type} ${path}`)).toEqual([
          `CREATE ${home}/f`,
          `DELETE ${home}/f`,
          `DELETE ${home}`,
        ]);
      }
      await fs.watch.stop(id, watch_id);
      expect(await codeOf(fs.watch.stop(id, watch_id))).toBe("404 not_found");
    });

    it("end their streams when stopped, and resume from any id", async () => {
      const { fs, id } = session;
      const home = await session.freshDirectory();
      const { watch_id } = await fs.watch.start(id, { path: home });
      for (const name of ["a", "b", "c"]) await fs.writeFile(id, name, { path: `${home}/${name}` });
      const path = `/browsers/${id}/fs/watch/${watch_id}/events`;
      // All readers have their headers before the watch is stopped.
      const open = (more: Readonly<Record<string, string>> = {}) =>
        test.fetch(test.baseUrl + path, { headers: { authorization: `Bearer ${test.apiKey}`, ...more } });
      const [first, second, resumed] = [await open(), await open(), await open({ "last-event-id": "2" })];
      const idsIn = async (answer: Response) => (await answer.text()).match(/^id: \d+$/gm);
      const read = Promise.all([first, second, resumed].map(idsIn));
      expect((await test.send("GET", path, { headers: { "last-event-id": "4" } })).status).toBe(400);
      expect((await test.send("GET", path, { headers: { "last-event-id": "nonsense" } })).status).toBe(400);
      await fs.watch.stop(id, watch_id);
      const all = ["id: 1", "id: 2", "id: 3"];
      expect(await read).toEqual([all, all, ["id: 3"]]);
      expect(resumed.headers.get("content-type")).toBe("text/event-stream");
      expect(await codeOf(allOf(fs.watch.events(id, watch_id)))).toBe("404 not_found");
    });

    it("start once for a repeated request", async () => {
      const { id } = session;
      const path = await session.freshDirectory();
      const start = () =>
        test.send("POST", `/browsers/${id}/fs/watch`, { body: { path }, headers: { "idempotency-key": "watch-once" } });
      expect((await start()).body).toEqual((await start()).body);
      expect(
        (
          await test.send("POST", `/browsers/${id}/fs/watch`, {
            body: { path, recursive: true },
            headers: { "idempotency-key": "watch-once" },
          })
        ).status,
      ).toBe(422);
    });
  });
}
