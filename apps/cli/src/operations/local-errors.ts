import { codeOf, messageOf } from "@shoal/primitives";

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EISDIR: "it is a directory",
  ENOENT: "it does not exist",
  ENOSPC: "the disk is full",
  ENOTDIR: "part of its path is not a directory",
  EROFS: "the file system is read-only",
};

export function reasonOf(error: unknown): string {
  return reasons[codeOf(error) ?? ""] ?? messageOf(error);
}
