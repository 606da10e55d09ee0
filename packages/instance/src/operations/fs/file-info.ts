import type { FileInfo } from "@shoal/schemas";
import { constants, type Stats } from "node:fs";

/** Latest time with a four-digit year; files may have later ones. */
const lastTimestampMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

export function describeFile(path: string, name: string, stats: Stats): FileInfo {
  const isDirectory = stats.isDirectory();
  return {
    name,
    path,
    size_bytes: isDirectory ? 0 : Math.min(stats.size, Number.MAX_SAFE_INTEGER),
    is_dir: isDirectory,
    mod_time: new Date(Math.min(Math.max(stats.mtimeMs, 0), lastTimestampMs)).toISOString(),
    mode: modeText(stats),
  };
}

export function fileKind(stats: Stats): string {
  if (stats.isFile()) return "a file";
  if (stats.isDirectory()) return "a directory";
  if (stats.isSymbolicLink()) return "a symbolic link";
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}

/** Formats type and permissions as `ls -l` does: `-rwsr-xr-x`, `drwxrwxrwt`. */
export function modeText(stats: Pick<Stats, "mode">): string {
  const { mode } = stats;
  const special = [mode & 0o4000, mode & 0o2000, mode & 0o1000];
  const letters = ["s", "s", "t"];
  const groups = [6, 3, 0].map((shift, index) => {
    const bits = (mode >> shift) & 7;
    const letter = letters[index] ?? "";
    const execute = special[index] === 0 ? (bits & 1 ? "x" : "-") : bits & 1 ? letter : letter.toUpperCase();
    return `${bits & 4 ? "r" : "-"}${bits & 2 ? "w" : "-"}${execute}`;
  });
  return typeLetter(mode) + groups.join("");
}

function typeLetter(mode: number): string {
  switch (mode & constants.S_IFMT) {
    case constants.S_IFDIR:
      return "d";
    case constants.S_IFLNK:
      return "l";
    case constants.S_IFIFO:
      return "p";
    case constants.S_IFSOCK:
      return "s";
    case constants.S_IFCHR:
      return "c";
    case constants.S_IFBLK:
      return "b";
    default:
      return "-";
  }
}
