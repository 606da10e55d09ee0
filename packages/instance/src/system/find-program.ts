import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** @param others - folders after those of `PATH`. */
export async function findProgram(name: string, others: readonly string[] = []): Promise<string | undefined> {
  for (const folder of [...(process.env.PATH ?? "").split(delimiter).filter(Boolean), ...others]) {
    const path = join(folder, name);
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}
