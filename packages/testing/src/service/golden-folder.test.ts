import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Golden, goldenFolder } from "./golden-folder.ts";

const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env;
let folder = "";
let cache = "";
/** How many golden folders were made. */
let made = 0;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-golden-"));
  await chmod(folder, 0o700);
  made = 0;
  cache = join(folder, "shoal", "testing");
  Object.assign(process.env, { LOCALAPPDATA: folder, XDG_CACHE_HOME: folder });
});
afterEach(async () => {
  for (const [name, value] of Object.entries({ LOCALAPPDATA, XDG_CACHE_HOME }))
    if (value === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = value;
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** As a service would, whose keys are never the same. */
const open = (before = (): Promise<void> => Promise.resolve()): Promise<Golden> =>
  goldenFolder(async (data) => {
    const content = `golden folder ${String(++made)}`;
    await before();
    await mkdir(join(data, "database"));
    await writeFile(join(data, "database", "file"), content);
  });
const contentOf = ({ data }: Golden): Promise<string> => readFile(join(data, "database", "file"), "utf8");
const damage = ({ data }: Golden): Promise<void> => rm(join(data, "database"), { recursive: true });

it("is damaged for every process that opened it before another one replaced it", async () => {
  const first = await open();
  const second = await open();
  expect([made, await first.isDamaged(), await second.isDamaged()]).toEqual([1, false, false]);
  await damage(first);
  expect(await first.isDamaged()).toBe(true);
  await first.discard();
  // Removed, and not yet made again.
  expect(await second.isDamaged()).toBe(true);
  const replaced = await open();
  expect(await contentOf(replaced)).toBe("golden folder 2");
  expect(await second.isDamaged()).toBe(true);
  // The new one is kept.
  await second.discard();
  expect([await contentOf(replaced), await replaced.isDamaged(), await contentOf(await open())]).toEqual([
    "golden folder 2",
    false,
    "golden folder 2",
  ]);
  expect(await readdir(cache)).toHaveLength(1);
});

it("is made again without the file of its digest", async () => {
  const first = await open();
  const second = await open();
  await rm(join(first.data, "..", "digest"));
  const third = await open();
  for (const golden of [first, second, third]) expect(await golden.isDamaged()).toBe(true);
  await first.discard();
  expect(await contentOf(await open())).toBe("golden folder 2");
});

it("keeps the folder of a process that was faster", async () => {
  const slower = await open(async () => {
    if (made === 1) await open();
  });
  expect([made, await contentOf(slower), await slower.isDamaged()]).toEqual([2, "golden folder 2", false]);
  expect(await readdir(cache)).toHaveLength(1);
});
