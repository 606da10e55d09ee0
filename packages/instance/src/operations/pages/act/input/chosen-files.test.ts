import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { TypedSecrets } from "../../../../secrets/typed-secrets.ts";
import { checkFiles, type FileSource, pathsNow, readFiles } from "./chosen-files.ts";

let directory: string;
beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "shoal-chosen-")));
  for (const folder of ["home/shoal/own", "home/shoal/linked", "home/shoal2", "tmp", "profile"])
    await mkdir(join(directory, folder), { recursive: true });
  for (const file of ["home/shoal/own/a.txt", "home/shoal2/a.txt", "tmp/a.txt", "profile/Cookies"])
    await writeFile(join(directory, file), "x");
  await symlink("../../profile/Cookies", join(directory, "home/shoal/link"));
  await symlink("../../../profile/Cookies", join(directory, "home/shoal/linked/link"));
});
afterAll(() => rm(directory, { recursive: true }));

const source = (hidesPages: boolean): FileSource => ({
  root: { directory, home: "/home/shoal" },
  secrets: { hidesPages },
});
const pathsOf = async (isClosed: boolean, path: string) =>
  (await readFiles(source(isClosed), [path])).map(({ shown }) => shown);

it.each(["/home/shoal/own/a.txt", "/home/shoal/own", "/tmp/a.txt", "/tmp/../home/shoal/own/a.txt"])(
  "uploads %s also after a stored value was typed",
  async (path) => {
    expect(await pathsOf(false, path)).toHaveLength(1);
    expect(await pathsOf(true, path)).toHaveLength(1);
  },
);

it.each(["/profile/Cookies", "/home/shoal2/a.txt", "/home/shoal/link", "/home/shoal/../../profile"])(
  "does not upload %s after a stored value was typed",
  async (path) => {
    expect(await pathsOf(false, path)).toHaveLength(1);
    await expect(pathsOf(true, path)).rejects.toMatchObject({ status: 403, code: "forbidden" });
  },
);

it("does not upload a folder with a link to a closed file", async () => {
  const field = { folder: true, multiple: false };
  for (const isClosed of [false, true]) {
    const files = await readFiles(source(isClosed), ["/home/shoal/linked"]);
    const checked = checkFiles(files, field, source(isClosed));
    await (isClosed
      ? expect(checked).rejects.toMatchObject({ status: 403 })
      : expect(checked).resolves.toBeUndefined());
  }
});

it.each(["/profile/Cookies", "/home/shoal/linked"])(
  "does not give %s to the page if a stored value is typed while the action waits for its element",
  async (path) => {
    const secrets = new TypedSecrets();
    const open = { root: { directory, home: "/home/shoal" }, secrets };
    const given = { files: await readFiles(open, [path]), source: open };
    expect(await pathsNow(given)).toHaveLength(1);
    secrets.add("correct-horse");
    await expect(pathsNow(given)).rejects.toMatchObject({ status: 403, code: "forbidden" });
  },
);
