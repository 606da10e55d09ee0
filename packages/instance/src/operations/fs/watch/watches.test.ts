import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { replay, serveWatches, treeOf, type Frame, type ServedWatches } from "./testing/served-watches.ts";
import { eventsOf, expectNothingMissing, prepared, watched } from "./testing/watched.ts";

const linesOf = (frames: readonly Frame[]): string[] =>
  eventsOf(frames).map(
    ({ type, path, is_dir, dest_path }) =>
      `${type} ${path}${is_dir === true ? "/" : ""}${dest_path === undefined ? "" : ` -> ${dest_path}`}`,
  );

describe("a directory watch", () => {
  it("reports changes after the answer, and no earlier changes", async () => {
    await using served = await prepared("w/old");
    await writeFile(join(served.root, "w/old/file"), "1");
    const frames = await watched(served, "echo 2 > w/new; mkdir w/dir; echo 3 >> w/old/file; rm w/new; rmdir w/dir");
    expect(linesOf(frames).filter((line) => line.endsWith("/w/old/") || line.startsWith("CREATE /w/old"))).toEqual([]);
    expect(linesOf(frames)).toContain("WRITE /w/old/file");
    expect(new Set(linesOf(frames).filter((line) => !line.startsWith("WRITE")))).toEqual(
      new Set([
        ...["CREATE", "DELETE"].map((type) => `${type} /w/new`),
        ...eventsOf(frames)
          .filter(({ name }) => name === "dir")
          .map(({ type, is_dir }) => `${type} /w/dir${is_dir === true ? "/" : ""}`),
      ]),
    );
    expect(linesOf(frames).filter((line) => line.startsWith("CREATE /w/dir"))).toHaveLength(1);
    expect(eventsOf(frames).every(({ name, path }) => path.endsWith(`/${name ?? ""}`))).toBe(true);
  });

  it("reports the content of a new file after the file, and an empty one once", async () => {
    await using served = await prepared();
    // One write can be reported twice.
    expect([...new Set(linesOf(await watched(served, "echo 1 > w/full")))]).toEqual([
      "CREATE /w/full",
      "WRITE /w/full",
    ]);
    expect(linesOf(await watched(served, "touch w/empty"))).toEqual(["CREATE /w/empty"]);
  });

  it("reports one level unless it is recursive", async () => {
    await using served = await prepared("w/old");
    const frames = await watched(
      served,
      "mkdir -p w/new/deep; touch w/old/hidden w/new/hidden w/seen; mv w/old w/renamed",
      { recursive: false },
    );
    expect(linesOf(frames)).toEqual([
      "CREATE /w/new/",
      "CREATE /w/seen",
      "RENAME /w/old/ -> /w/renamed",
      "CREATE /w/renamed/",
    ]);
  });

  it("misses nothing in 50 new trees of four levels that are filled at once", async () => {
    await using served = await prepared();
    const frames = await watched(
      served,
      `for i in $(seq 50); do mkdir -p w/$i/b/c/d; for d in w/$i w/$i/b w/$i/b/c w/$i/b/c/d; do echo x > $d/f; done; done`,
    );
    await expectNothingMissing(served, frames);
    expect(eventsOf(frames).filter(({ type, name }) => type === "CREATE" && name === "f")).toHaveLength(200);
  });

  it("pairs the two events of a move, for files and for directories with content", async () => {
    await using served = await prepared("w/a/b", "w/target");
    await writeFile(join(served.root, "w/a/b/f"), "1");
    await writeFile(join(served.root, "w/file"), "1");
    const before = await treeOf(served.root, "/w");
    const frames = await watched(
      served,
      "mv w/file w/moved; mv w/moved w/target/; mv w/a w/target/c; echo 2 > w/target/c/b/later; mkdir w/new; mv w/target/c w/new/d",
    );
    expect(
      linesOf(frames).filter((line) => line.startsWith("RENAME") || line.startsWith("DELETE")).length,
    ).toBeGreaterThan(0);
    expect(linesOf(frames)).not.toContain("DELETE /w/file");
    expect(
      eventsOf(frames)
        .filter(({ type }) => type === "RENAME")
        .map(({ path }) => path),
    ).toEqual(expect.arrayContaining(["/w/file", "/w/a"]));
    for (const { type, dest_path, path } of eventsOf(frames))
      if (type === "RENAME")
        expect(linesOf(frames), path).toContainEqual(
          expect.stringMatching(new RegExp(`^CREATE ${dest_path ?? ""}/?$`)),
        );
    await expectNothingMissing(served, frames, before);
  });

  it("reports files and trees that are moved in and out", async () => {
    await using served = await prepared("w/out/deep", "in/deep");
    await writeFile(join(served.root, "w/out/deep/f"), "1");
    await writeFile(join(served.root, "in/deep/f"), "1");
    const before = await treeOf(served.root, "/w");
    const frames = await watched(served, "mv in w/in; mv w/out out; echo 2 > w/in/deep/g; echo 3 > out/deep/unseen");
    expect(linesOf(frames)).toEqual(
      expect.arrayContaining([
        "CREATE /w/in/",
        "CREATE /w/in/deep/",
        "CREATE /w/in/deep/f",
        "CREATE /w/in/deep/g",
        "DELETE /w/out/deep/f",
        "DELETE /w/out/deep/",
        "DELETE /w/out/",
      ]),
    );
    expect(linesOf(frames).join()).not.toContain("unseen");
    await expectNothingMissing(served, frames, before);
  });

  it("reports the target when a file is moved over another file", async () => {
    await using served = await prepared();
    await writeFile(join(served.root, "w/a"), "1");
    await writeFile(join(served.root, "w/b"), "2");
    const inside = await watched(served, "mv w/a w/b");
    expect(linesOf(inside)).toEqual(["RENAME /w/a -> /w/b", "CREATE /w/b"]);
    const fromOutside = await watched(served, "echo 3 > c; mv c w/b");
    expect(linesOf(fromOutside)).toEqual(["WRITE /w/b"]);
  });

  it("reports a download of Chromium, which is written under one name and moved to another", async () => {
    await using served = await prepared();
    const frames = await watched(
      served,
      "echo 1 > w/f.pdf.crdownload; for i in 1 2 3 4 5; do sleep 0.02; echo 2 >> w/f.pdf.crdownload; done; mv w/f.pdf.crdownload w/f.pdf",
    );
    const lines = linesOf(frames);
    const move = lines.indexOf("RENAME /w/f.pdf.crdownload -> /w/f.pdf");
    expect(lines[move + 1]).toBe("CREATE /w/f.pdf");
    expect(lines.join()).not.toContain("DELETE");
  });

  it("treats a link as a file, for any target", async () => {
    await using served = await prepared("elsewhere");
    const id = await served.start("/w");
    const reader = await served.read(id);
    await served.sh("ln -s ../elsewhere w/link; echo 1 > w/link/unseen; ln -s nowhere w/dangling");
    const created: Frame[] = [];
    for (let missing = 2; missing > 0; missing -= 1) created.push(...(await reader.until(() => true)));
    expect(new Set(linesOf(created))).toEqual(new Set(["CREATE /w/link", "CREATE /w/dangling"]));
    // A replacement before the link was reported would be part of its creation.
    await served.sh("ln -s ../other changed; mv -T changed w/link");
    await served.stop(id);
    expect(linesOf(await reader.toEnd())).toEqual(["WRITE /w/link"]);
  });

  it("covers the whole filesystem of a session", async () => {
    await using served = await prepared("a/b");
    const id = await served.start("/");
    const reader = await served.read(id);
    await served.sh("echo 1 > a/b/f; echo 2 > g");
    await served.stop(id);
    expect(linesOf(await reader.toEnd())).toEqual(expect.arrayContaining(["CREATE /a/b/f", "CREATE /g"]));
  });

  it("does not report the service's own temporary files", async () => {
    await using served = await prepared();
    await writeFile(join(served.root, "w/there"), "1");
    const frames = await watched(
      served,
      "echo 2 > w/.shoal-abc123.part; mv w/.shoal-abc123.part w/there; echo 3 > w/.shoal-xyz.part; mv w/.shoal-xyz.part w/new; touch w/.shoal-x.part; rm w/.shoal-x.part",
    );
    expect(linesOf(frames)).toEqual(["WRITE /w/there", "CREATE /w/new"]);
  });

  it("does not report a reused inode or a hard link as a move", async () => {
    await using served = await prepared();
    await writeFile(join(served.root, "w/linked"), "1");
    const id = await served.start("/w");
    const reader = await served.read(id);
    await served.sh("for i in $(seq 300); do : > w/a$i; rm w/a$i; : > w/b$i; done; ln w/linked w/second");
    // A watch that sees the link only after the removal cannot tell it from a move.
    const frames = await reader.until(({ event }) => event?.type === "CREATE" && event.path === "/w/second");
    await served.sh("rm w/linked; for i in $(seq 300); do mkdir w/c$i; rmdir w/c$i; mkdir w/d$i; done");
    expect((await served.stop(id)).status).toBe(204);
    frames.push(...(await reader.toEnd()));
    expect(linesOf(frames).filter((line) => line.startsWith("RENAME"))).toEqual([]);
    await expectNothingMissing(served, frames, new Map([["/w/linked", false]]));
  });

  it("reports files that vanish before they are checked", async () => {
    await using served = await prepared();
    const frames = await watched(
      served,
      `import { rmSync, writeFileSync } from "node:fs"; for (let i = 0; i < 500; i++) { writeFileSync("w/f" + i, "x"); rmSync("w/f" + i); }`,
      { by: "node" },
    );
    for (const type of ["CREATE", "DELETE"])
      expect(
        new Set(
          eventsOf(frames)
            .filter((event) => event.type === type)
            .map(({ path }) => path),
        ).size,
      ).toBe(500);
    await expectNothingMissing(served, frames);
  });

  it("reports the last of many writes", async () => {
    await using served = await prepared();
    await writeFile(join(served.root, "w/f"), "");
    const id = await served.start("/w");
    const reader = await served.read(id);
    for (let round = 0; round < 50; round++) {
      const seen = reader.until(({ event }) => event?.type === "WRITE");
      await writeFile(join(served.root, "w/f"), `${round % 10}`);
      await seen;
    }
    reader.close();
  });

  it("reports rotated names correctly", async () => {
    await using served = await prepared();
    await served.sh("for i in 1 2 3 4; do echo $i > w/log.$i; done; mkdir w/x w/y; echo x > w/x/x; echo y > w/y/y");
    const before = await treeOf(served.root, "/w");
    const frames = await watched(
      served,
      "for n in $(seq 20); do for i in 4 3 2 1; do mv w/log.$i w/log.$((i + 1)); done; echo $n > w/log.1; mv w/x w/t; mv w/y w/x; mv w/t w/y; done",
    );
    await expectNothingMissing(served, frames, before);
  });
});

describe("the end of a watch", () => {
  it("follows all earlier events when the directory is removed", async () => {
    await using served = await prepared("w/a/b");
    const id = await served.start("/w");
    const reader = await served.read(id);
    await served.sh("echo 1 > w/a/b/f; echo 2 > w/g; rm -r w; mkdir w; echo 3 > w/unseen");
    const frames = await reader.toEnd();
    expect(linesOf(frames).at(-1)).toBe("DELETE /w/");
    expect([
      ...replay(
        new Map([
          ["/w", true],
          ["/w/a", true],
          ["/w/a/b", true],
        ]),
        frames,
        "moves",
      ),
    ]).toEqual([]);
    const again = await (await served.read(id)).toEnd();
    expect(again).toEqual(frames);
    expect((await served.stop(id)).status).toBe(204);
    expect((await served.stop(id)).status).toBe(404);
  });

  const linesIn = (served: ServedWatches, id: string) =>
    served.read(id).then(async (reader) => linesOf(await reader.toEnd()).join(), String);

  it("is kept for further readers, and only for the latest watches", async () => {
    await using served = await serveWatches({ endedWatches: 2, keepReadMs: 2 ** 30 });
    await served.sh("mkdir a b c");
    const ids: string[] = [];
    for (const name of ["a", "b", "c"]) {
      const id = await served.start(`/${name}`);
      const reader = await served.read(id);
      await served.sh(`rmdir ${name}`);
      expect(linesOf(await reader.toEnd())).toEqual([`DELETE /${name}/`]);
      ids.push(id);
    }
    const again = await Promise.all(ids.map((id) => linesIn(served, id)));
    expect(again).toEqual([expect.stringContaining("404"), "DELETE /b/", "DELETE /c/"]);
  });

  it("is kept for a while only", async () => {
    await using served = await serveWatches({ keepReadMs: 1 });
    await served.sh("mkdir a");
    const id = await served.start("/a");
    await served.sh("rmdir a");
    expect(await linesIn(served, id)).toBe("DELETE /a/");
    await expect.poll(() => linesIn(served, id)).toContain("404");
  });

  it.each([
    ["it is moved", "mv w elsewhere; echo 1 > elsewhere/unseen"],
    ["a directory above it is moved", "mv up elsewhere"],
    ["a directory above it is removed", "rm -r up"],
  ])("comes when %s", async (_, script) => {
    await using served = await prepared("up/er/w/a");
    const path = script.includes("up") ? "/up/er/w" : "/w";
    const id = await served.start(path);
    const reader = await served.read(id);
    await served.sh(script);
    expect(linesOf(await reader.toEnd()).at(-1)).toBe(`DELETE ${path}/`);
  });

  it("follows all earlier events when the watch is stopped", async () => {
    await using served = await prepared();
    for (let round = 0; round < 20; round++) {
      const id = await served.start("/w");
      await writeFile(join(served.root, `w/f${round}`), "");
      const reader = await served.read(id);
      await served.stop(id);
      expect(linesOf(await reader.toEnd())).toContain(`CREATE /w/f${round}`);
    }
  });
});

describe("readers", () => {
  it("receive everything, each at its own pace", async () => {
    await using served = await prepared();
    const id = await served.start("/w");
    const slow = await served.read(id);
    const quick = await served.read(id);
    await served.sh(
      "for i in $(seq 3000); do : > w/a-rather-long-name-so-that-the-socket-fills-up-$i; done; : > w/last",
    );
    const isLast = ({ event }: Frame): boolean => event?.name === "last";
    const first = await quick.until(isLast);
    expect(await slow.until(isLast)).toEqual(first);
    expect(await (await served.read(id)).until(isLast)).toEqual(first);
  });

  it("continue after Last-Event-ID, without gaps or repetition", async () => {
    await using served = await prepared();
    const id = await served.start("/w");
    const writing = served.sh("for i in $(seq 2000); do : > w/f$i; done; : > w/last");
    const frames: Frame[] = [];
    const isLast = ({ event }: Frame): boolean => event?.name === "last";
    while (!frames.some(isLast)) {
      const reader = await served.read(id, { after: frames.at(-1)?.id ?? 0 });
      const until = (frames.at(-1)?.id ?? 0) + 300;
      frames.push(...(await reader.until((frame) => frame.id >= until || isLast(frame))));
      reader.close();
    }
    await writing;
    await expectNothingMissing(served, frames);
  });

  it("receive the number of missed events when they fall behind the kept events", async () => {
    await using served = await serveWatches({ eventsPerWatch: 100 });
    await mkdir(join(served.root, "w"));
    const id = await served.start("/w");
    const quick = await served.read(id);
    await served.sh("for i in $(seq 500); do : > w/f$i; done; : > w/last");
    const last = (await quick.until(({ event }) => event?.name === "last")).at(-1)?.id ?? 0;
    const late = await served.read(id, { after: 3, gaps: true });
    const frames = await late.until(({ id: at }) => at === last);
    expect(frames[0]).toEqual({ id: last - 100, missed: last - 100 - 3 });
    expect(frames.slice(1).map(({ id: at }) => at)).toEqual(
      Array.from({ length: 100 }, (_, index) => last - 99 + index),
    );
    expect((await (await served.read(id)).until(({ id: at }) => at === last))[0]?.id).toBe(last - 99);
  });
});

describe("startWatch and watchEvents", () => {
  it.each([
    [400, { path: "w" }, "body.path"],
    [400, {}, "body.path"],
    [404, { path: "/missing" }, "/missing"],
    [400, { path: "/file" }, "not_a_directory"],
    [400, { path: "/file/below" }, "not_a_directory"],
  ])("answer with %i: %j", async (status, body, text) => {
    await using served = await serveWatches();
    await writeFile(join(served.root, "file"), "");
    const response = await served.post(body);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(text);
  });

  it.each(["x", "-1", "7", "1.5"])("reject the Last-Event-ID %s", async (lastEventId) => {
    await using served = await prepared();
    const id = await served.start("/w");
    await expect(served.read(id, { after: lastEventId as unknown as number })).rejects.toThrow(/^400 .*Last-Event-ID/);
  });

  it("reject a watch that does not exist", async () => {
    await using served = await prepared();
    await expect(served.read("nothing")).rejects.toThrow(/^404 /);
    expect((await served.stop("nothing")).status).toBe(404);
  });

  it("reject a watch above the limit until another watch is stopped", async () => {
    await using served = await serveWatches({ watches: 2 });
    const [first] = await Promise.all([served.start("/"), served.start("/")]);
    const refused = await served.post({ path: "/" });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: "too_many_watches" });
    await served.stop(first);
    await served.start("/");
  });
});
