import { type FileSystemEvent, Shoal } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import { mkdirSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { allOf } from "../testing/all-of.ts";
import { placements } from "../testing/components.ts";
import { startCuttingProxy } from "../testing/cutting-proxy.ts";
import { codeOf, refusalOf } from "../testing/refusal.ts";
import { differences, replay, treeOf } from "../testing/replay.ts";
import { useService } from "../testing/service.ts";
import { hostPathOf } from "../testing/session-folder.ts";
import { useSession } from "../testing/session.ts";
import { node, sh } from "../testing/writer.ts";

const lineOf = ({ type, path }: FileSystemEvent) => `${type} ${path}`;
/** Writes `count` files `f0`, `f1`, … into its directory. */
const manyFiles = (count: number, name = "f") =>
  `import { writeFileSync } from "node:fs"; for (let i = 0; i < ${count}; i++) writeFileSync("${name}" + i, "x");`;

/** Programs of the host can write to sessions' folders on disk, but not in memory. */
const onDisk = ["--session-disk-mb", "0"];

describe.each(placements)("directory watches in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a session", () => {
    const test = useService(() => ["--placement", placement, ...onDisk]);
    const session = useSession(test);

    /** A directory of the session, its path on the host, and a recursive watch on it. */
    async function watched(options: { recursive?: boolean } = {}) {
      const path = await session.freshDirectory();
      const onHost = await hostPathOf(test, session.id, path);
      const { watch_id: watchId } = await session.fs.watch.start(session.id, { path, recursive: true, ...options });
      const events = (shoal = test.shoal, from?: string) =>
        shoal.browsers.fs.watch.events(session.id, watchId, {
          onGap: () => expect.unreachable("events were lost"),
          ...(from !== undefined && { lastEventId: from }),
        });
      return {
        path,
        onHost,
        watchId,
        events,
        read: (baseUrl?: string) => follow(session.id, watchId, baseUrl),
        stop: () => session.fs.watch.stop(session.id, watchId),
      };
    }

    /** Reads a watch to its end; resolves once connected. */
    async function follow(sessionId: string, watchId: string, baseUrl = test.service.baseUrl) {
      const connected = Promise.withResolvers<undefined>();
      const shoal = new Shoal({
        baseUrl,
        apiKey: test.service.apiKey,
        hooks: {
          onResponse: () => {
            connected.resolve(undefined);
          },
        },
      });
      const seen: FileSystemEvent[] = [];
      const end = (async () => {
        const onGap = () => expect.unreachable("events were lost");
        for await (const event of shoal.browsers.fs.watch.events(sessionId, watchId, { onGap })) seen.push(event);
        return seen;
      })();
      await Promise.race([connected.promise, end]);
      return { seen, end };
    }

    it.each([
      [
        "50 new folders four deep that are filled at once",
        sh,
        `for i in $(seq 50); do mkdir -p $i/b/c/d; for d in $i $i/b $i/b/c $i/b/c/d; do echo x > $d/f; done; done`,
        400,
      ],
      [
        "cp -r of 300 folders with 1,000 files",
        sh,
        `d=../from-$$; for i in $(seq 300); do mkdir -p $d/$i; done; for i in $(seq 1000); do echo $i > $d/$((i % 300 + 1))/f$i; done; cp -r $d copy`,
        1301,
      ],
      ["20,000 files in one folder", node, manyFiles(20_000), 20_000],
      [
        "folders that are made, moved and removed at once",
        sh,
        `for i in $(seq 100); do mkdir -p a$i/b; echo x > a$i/b/f; mv a$i c$i; [ $((i % 3)) = 0 ] && rm -r c$i; mv c$i/b/f c$i/g 2>/dev/null || true; done`,
        67 * 3,
      ],
    ] as const)("misses nothing of %s", async (_, run, script, paths) => {
      const { onHost, path, read, stop } = await watched();
      const { end } = await read();
      await run(onHost, script);
      const real = treeOf(onHost, path);
      expect(real.size).toBe(paths);
      await stop();
      expect(differences(replay(new Map(), await end), real)).toEqual([]);
    });

    it("misses no change made through the service", async () => {
      const { onHost, path, read, stop } = await watched();
      const { end } = await read();
      const { fs, id } = session;
      await Promise.all(
        Array.from({ length: 50 }, (_, index) => fs.writeFile(id, "x", { path: `${path}/${index % 7}/${index}/f` })),
      );
      await fs.upload(id, {
        files: Array.from({ length: 50 }, (_, index) => ({
          dest_path: `${path}/up/${index % 5}/${index}`,
          file: new Blob(["x"]),
        })),
      });
      await fs.move(id, { src_path: `${path}/up`, dest_path: `${path}/moved` });
      await fs.deleteDirectory(id, { path: `${path}/3` });
      await stop();
      const told = await end;
      expect(differences(replay(new Map(), told), treeOf(onHost, path))).toEqual([]);
      expect(told.filter(({ name }) => name?.endsWith(".part"))).toEqual([]);
    });

    it("delivers everything to a slow reader", async () => {
      const { onHost, path, read, stop, watchId } = await watched();
      const target = new URL(`/browsers/${session.id}/fs/watch/${watchId}/events`, test.service.baseUrl);
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        get(target, { headers: { authorization: `Bearer ${test.service.apiKey}` } }, resolve).on("error", reject);
      });
      response.pause();
      const quick = await read();
      await node(onHost, manyFiles(6000, "n".repeat(150)));
      await stop();
      const told = await quick.end;
      // All socket buffers are full, so the rest waits in the session.
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) {
        text += String(chunk);
        const slowReaderMs = 1;
        if (text.length % 7 === 0) await delay(slowReaderMs);
      }
      const slow = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? "") as FileSystemEvent);
      expect(slow).toEqual(told);
      expect(differences(replay(new Map(), slow), treeOf(onHost, path))).toEqual([]);
    });

    it("delivers the same events to two readers and a late one", async () => {
      const { events, onHost, path, read, stop } = await watched();
      const readers = [(await read()).end, (await read()).end];
      await sh(onHost, "for i in $(seq 500); do echo x > f$i; done");
      const late: FileSystemEvent[] = [];
      for await (const event of events()) if (late.push(event) === 500) break;
      await stop();
      const [first, second] = await Promise.all(readers);
      expect(first).toEqual(second);
      expect(late).toEqual(first?.slice(0, 500));
      expect(differences(replay(new Map(), first ?? []), treeOf(onHost, path))).toEqual([]);
    });

    it("neither loses nor repeats an event for a reader whose connection is cut repeatedly", async () => {
      const { onHost, path, read, stop } = await watched();
      await using proxy = await startCuttingProxy(test.service.baseUrl);
      const steady = await read();
      const { end, seen: received } = await read(proxy.baseUrl);
      for (let round = 0; round < 4; round++) {
        const before = received.length;
        const writing = node(
          onHost,
          `import { mkdirSync, writeFileSync } from "node:fs"; mkdirSync("d${round}"); for (let i = 0; i < 1000; i++) writeFileSync("d${round}/f" + i, "x");`,
        );
        await eventually("some have come", () => received.length > before + 50);
        proxy.cut();
        await writing;
      }
      // The watch must not be stopped while the reader reconnects, so a last file marks the end.
      await sh(onHost, ": > last");
      await eventually(
        "the reader is back",
        () => received.some((event) => event.path.endsWith("/last")) && received.length >= steady.seen.length,
      );
      await stop();
      expect(await end).toEqual(await steady.end);
      expect(differences(replay(new Map(), received), treeOf(onHost, path))).toEqual([]);
    });

    it("resumes a later stream where an earlier one ended", async () => {
      const { events, onHost, read, stop } = await watched();
      const everything = await read();
      await sh(onHost, "for i in $(seq 100); do : > f$i; done");
      const taken: FileSystemEvent[] = [];
      let last: string | undefined;
      while (taken.length < 90) {
        const stream = events(test.shoal, last);
        for await (const event of stream) {
          taken.push(event);
          if (taken.length % 30 === 0) break;
        }
        last = stream.lastEventId;
      }
      await stop();
      expect(taken).toEqual((await everything.end).slice(0, taken.length));
    });

    it.each([
      ["removed", "rm -r watched"],
      ["moved", "mv watched elsewhere"],
    ])("ends when the watched directory is %s, after all its events", async (_, script) => {
      const { fs, id } = session;
      const above = await session.freshDirectory();
      const path = `${above}/watched`;
      await fs.createDirectory(id, { path: `${path}/a` });
      const onHost = await hostPathOf(test, id, above);
      const { watch_id } = await fs.watch.start(id, { path, recursive: true });
      const { end, seen } = await follow(id, watch_id);
      await sh(onHost, "for i in $(seq 50); do echo x > watched/a/f$i; done");
      await eventually("all are reported", () => seen.filter(({ type }) => type === "CREATE").length === 50);
      await sh(onHost, script);
      const lines = (await end).map(lineOf);
      expect(lines.at(-1)).toBe(`DELETE ${path}`);
      expect([
        ...replay(
          new Map([
            [path, true],
            [`${path}/a`, true],
          ]),
          seen,
        ),
      ]).toEqual([]);
      await sh(onHost, "mkdir watched; echo x > watched/of-another-directory");
      expect(await allOf(fs.watch.events(id, watch_id))).toEqual(seen);
    });

    it("reports one level when it is not recursive", async () => {
      const { onHost, path, read, stop } = await watched({ recursive: false });
      const { end } = await read();
      await sh(onHost, "mkdir -p a/b; echo x > a/f; echo x > g");
      await stop();
      expect((await end).filter(({ type }) => type === "CREATE").map(lineOf)).toEqual([
        `CREATE ${path}/a`,
        `CREATE ${path}/g`,
      ]);
    });

    it("reports errors of an invalid watch", async () => {
      const { fs, id } = session;
      await fs.writeFile(id, "x", { path: "/home/shoal/a-file" });
      const refused = async (path: string) => {
        const { status, code, message } = await refusalOf(fs.watch.start(id, { path }));
        expect(message).toContain(path.startsWith("/") ? path : "body.path");
        return `${status} ${code}`;
      };
      expect(await refused("home/shoal")).toBe("400 bad_request");
      expect(await refused("/home/shoal/missing")).toBe("404 not_found");
      expect(await refused("/home/shoal/a-file")).toBe("400 not_a_directory");
      expect(await codeOf(fs.watch.stop(id, "nothing"))).toBe("404 not_found");
      expect(await codeOf(allOf(fs.watch.events(id, "nothing")))).toBe("404 not_found");
      const { stop, watchId } = await watched();
      expect(await codeOf(allOf(fs.watch.events(id, watchId, { lastEventId: "12345" })))).toBe("400 bad_request");
      await stop();
      expect(await codeOf(fs.watch.stop(id, watchId))).toBe("404 not_found");
    });

    it("ends its streams with the session", async () => {
      const browser = await test.shoal.browsers.create();
      const { fs } = test.shoal.browsers;
      const { watch_id } = await fs.watch.start(browser.session_id, { path: "/home/shoal" });
      const { end, seen } = await follow(browser.session_id, watch_id);
      const outcome = end.then(
        () => "ended",
        (error: unknown) => codeOf(Promise.reject(error as Error)),
      );
      await fs.writeFile(browser.session_id, "x", { path: "/home/shoal/f" });
      await eventually("its event has come", () => seen.length > 0);
      await test.shoal.browsers.delete(browser.session_id);
      expect(["ended", "404 not_found"]).toContain(await outcome);
    });

    it("reports names unchanged", async () => {
      const { onHost, path, read, stop } = await watched();
      const { end } = await read();
      const names = ["ü", "a\nb", "data: x", " ", "%2F", "𝒳", "id: 1"];
      mkdirSync(join(onHost, "new\ndir"));
      for (const name of names) writeFileSync(join(onHost, "new\ndir", name), "x");
      await stop();
      expect(
        (await end)
          .filter(({ type }) => type === "CREATE")
          .map((event) => event.path)
          .sort(),
      ).toEqual([`${path}/new\ndir`, ...names.map((name) => `${path}/new\ndir/${name}`)].sort());
    });

    // It takes longer than an idle time that a busy machine does not use up, and does not depend on the placement.
    if (placement === "process") {
      it("keeps a session with a reader, even without events", async () => {
        const browser = await test.shoal.browsers.create({ timeout_seconds: 30 });
        const { fs } = test.shoal.browsers;
        const { watch_id } = await fs.watch.start(browser.session_id, { path: "/home/shoal" });
        await using stream = fs.watch.events(browser.session_id, watch_id);
        const next = stream.next();
        const longerThanIdleMs = 33_000;
        await delay(longerThanIdleMs);
        await fs.writeFile(browser.session_id, "x", { path: "/home/shoal/f" });
        expect((await next).value).toMatchObject({ type: "CREATE", path: "/home/shoal/f" });
        await test.shoal.browsers.delete(browser.session_id);
      });
    }
  });
});
