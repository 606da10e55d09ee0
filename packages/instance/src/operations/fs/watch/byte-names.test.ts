import type { FileSystemEvent } from "@shoal/schemas";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { serveWatches, type ServedWatches } from "./testing/served-watches.ts";

const prelude = `
  import * as fs from "node:fs";
  const at = (text) => Buffer.from("w/" + text, "latin1");
`;

async function prepared(before = ""): Promise<ServedWatches> {
  const served = await serveWatches();
  await mkdir(join(served.root, "w"));
  await served.node(prelude + before);
  return served;
}

async function linesOf(served: ServedWatches, program: string): Promise<string[]> {
  const id = await served.start("/w");
  const reader = await served.read(id);
  await served.node(prelude + program);
  expect((await served.stop(id)).status).toBe(204);
  const frames = await reader.toEnd();
  expect(served.faults).toEqual([]);
  return frames.flatMap(({ event }) => (event === undefined || event.type === "WRITE" ? [] : lineOf(event)));
}

function lineOf({ type, path, name, dest_path, is_dir, is_escaped }: FileSystemEvent): string {
  expect(path.slice(path.lastIndexOf("/") + 1)).toBe(name);
  return `${type} ${path}${is_dir === true ? "/" : ""}${dest_path === undefined ? "" : ` -> ${dest_path}`}${is_escaped === true ? " !" : ""}`;
}

describe("a directory watch", () => {
  it("reports names that contain U+FFFD, and escapes and flags names that are not UTF-8", async () => {
    await using served = await prepared();
    const lines = await linesOf(
      served,
      `fs.writeFileSync("w/real \ufffd", "1");
      fs.writeFileSync("w/valid \\\\ \u00e9", "1");
      fs.writeFileSync(at("not \\xff \\\\ utf-8 \\xc3\\xa9"), "1");
      fs.writeFileSync(at("cut \\xe2\\x82"), "1");
      fs.writeFileSync(at("surrogate \\xed\\xa0\\x80"), "1");`,
    );
    expect(lines).toEqual([
      "CREATE /w/real \ufffd",
      "CREATE /w/valid \\ \u00e9",
      "CREATE /w/not \\xff \\\\ utf-8 \u00e9 !",
      "CREATE /w/cut \\xe2\\x82 !",
      "CREATE /w/surrogate \\xed\\xa0\\x80 !",
    ]);
  });

  it("distinguishes names that differ only in invalid bytes", async () => {
    await using served = await prepared(`fs.writeFileSync(at("a\\xff"), "1"); fs.writeFileSync(at("a\\xfe"), "1");`);
    expect(await linesOf(served, `fs.rmSync(at("a\\xfe")); fs.writeFileSync(at("a\\xfd"), "1");`)).toEqual([
      "DELETE /w/a\\xfe !",
      "CREATE /w/a\\xfd !",
    ]);
  });

  it("pairs moves from, to and between names that are not UTF-8", async () => {
    await using served = await prepared(
      `fs.writeFileSync("w/valid", "1"); fs.writeFileSync(at("b\\xff"), "1"); fs.writeFileSync(at("c\\xff"), "1");`,
    );
    const moves = `fs.renameSync("w/valid", at("a\\xff")); fs.renameSync(at("b\\xff"), at("b\\xfe")); fs.renameSync(at("c\\xff"), "w/c");`;
    expect(await linesOf(served, moves)).toEqual([
      "RENAME /w/valid -> /w/a\\xff !",
      "CREATE /w/a\\xff !",
      "RENAME /w/b\\xff -> /w/b\\xfe !",
      "CREATE /w/b\\xfe !",
      "RENAME /w/c\\xff -> /w/c !",
      "CREATE /w/c",
    ]);
  });

  it("covers directories whose names are not UTF-8: their content, moves and removal", async () => {
    await using served = await prepared(`fs.mkdirSync(at("old\\xff/inner"), { recursive: true });`);
    const id = await served.start("/w");
    const reader = await served.read(id);
    const lines: string[] = [];
    const step = async (program: string, last: string): Promise<void> => {
      const told = reader.until(({ event }) => event !== undefined && lineOf(event) === last);
      await served.node(prelude + program);
      lines.push(
        ...(await told).flatMap(({ event }) => (event === undefined || event.type === "WRITE" ? [] : lineOf(event))),
      );
    };
    await step(`fs.writeFileSync(at("old\\xff/inner/file"), "1");`, "CREATE /w/old\\xff/inner/file !");
    await step(`fs.mkdirSync(at("new\\xfe/deep"), { recursive: true });`, "CREATE /w/new\\xfe/deep/ !");
    await step(`fs.writeFileSync(at("new\\xfe/deep/file"), "1");`, "CREATE /w/new\\xfe/deep/file !");
    await step(`fs.renameSync(at("old\\xff"), at("moved\\xfd"));`, "CREATE /w/moved\\xfd/inner/file !");
    await step(`fs.writeFileSync(at("moved\\xfd/inner/later"), "1");`, "CREATE /w/moved\\xfd/inner/later !");
    await step(`fs.rmSync(at("new\\xfe"), { recursive: true });`, "DELETE /w/new\\xfe/ !");
    await served.stop(id);
    expect(await reader.toEnd()).toEqual([]);
    expect(lines).toEqual([
      "CREATE /w/old\\xff/inner/file !",
      "CREATE /w/new\\xfe/ !",
      "CREATE /w/new\\xfe/deep/ !",
      "CREATE /w/new\\xfe/deep/file !",
      "RENAME /w/old\\xff/ -> /w/moved\\xfd !",
      "CREATE /w/moved\\xfd/ !",
      "CREATE /w/moved\\xfd/inner/ !",
      "CREATE /w/moved\\xfd/inner/file !",
      "CREATE /w/moved\\xfd/inner/later !",
      "DELETE /w/new\\xfe/deep/file !",
      "DELETE /w/new\\xfe/deep/ !",
      "DELETE /w/new\\xfe/ !",
    ]);
  });

  it("skips paths above the system's limit until they are shorter", async () => {
    await using served = await prepared();
    const id = await served.start("/w");
    const reader = await served.read(id);
    const deep = `process.chdir("w"); for (let level = 0; level < 20; level++) { const name = String(level).padEnd(250, "x"); fs.mkdirSync(name); process.chdir(name); }`;
    await served.node(`${prelude} ${deep} fs.writeFileSync("deepest", "");`);
    await served.sh("cd w/0*/1*/2*/3*/4*/5*/6*/7*/8*; mv 9* ../../../../../../../../../short");
    const frames = await reader.until(({ event }) => event?.name === "deepest");
    // The fixture cannot remove this tree.
    await served.sh("rm -r w");
    const created = new Set(
      frames.flatMap(({ event }) => (event?.type === "CREATE" ? event.name?.replace(/x+$/, "") : [])),
    );
    expect(created).toEqual(new Set(["short", "deepest", ...Array.from({ length: 20 }, (_, level) => String(level))]));
    expect((await reader.toEnd()).at(-1)?.event).toMatchObject({ type: "DELETE", path: "/w" });
    expect(served.faults).toEqual([]);
  });

  it("covers a directory until it is gone when its name or a parent's name is not ASCII", async () => {
    await using served = await serveWatches();
    await mkdir(join(served.root, "\u00fcber/w\u{1f41f}"), { recursive: true });
    const id = await served.start("/\u00fcber/w\u{1f41f}");
    const reader = await served.read(id);
    await served.node(
      `import * as fs from "node:fs"; fs.writeFileSync("\u00fcber/w\u{1f41f}/\u00e9", ""); fs.rmSync("\u00fcber", { recursive: true });`,
    );
    expect((await reader.toEnd()).map(({ event }) => event)).toMatchObject([
      { type: "CREATE", path: "/\u00fcber/w\u{1f41f}/\u00e9" },
      { type: "DELETE", path: "/\u00fcber/w\u{1f41f}/\u00e9" },
      { type: "DELETE", path: "/\u00fcber/w\u{1f41f}", name: "w\u{1f41f}" },
    ]);
  });
});
