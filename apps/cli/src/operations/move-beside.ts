import { codeOf } from "@shoal/primitives";
import { constants } from "node:fs";
import { copyFile, link, rm } from "node:fs/promises";
import { parse, join } from "node:path";

const maxNumber = 9_999;
/** File systems without hard links. */
const withoutLinks: ReadonlySet<unknown> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EXDEV", "EMLINK"]);

/** Moves a file to a name that is free. Fails with `EEXIST` if another program takes the name first. */
export async function moveToFree(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!withoutLinks.has(codeOf(error))) throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL);
  }
  await rm(from);
}

/** Moves a file next to the ones with its name: `report.pdf`, `report (2).pdf`. @returns its path. */
export async function moveBeside(from: string, to: string): Promise<string> {
  const { base, dir, ext, name } = parse(to);
  for (let number = 1; ; number++) {
    const path = join(dir, number === 1 ? base : `${name} (${String(number)})${ext}`);
    try {
      await moveToFree(from, path);
      return path;
    } catch (error) {
      if (codeOf(error) !== "EEXIST" || number === maxNumber) throw error;
    }
  }
}
