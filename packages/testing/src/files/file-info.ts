import type { FileInfo } from "@shoal/schemas";
import { baseName } from "./paths.ts";
import type { TreeNode } from "./file-tree.ts";

export function describeFile(path: string, node: TreeNode): FileInfo {
  const sizes = {
    file: () => (node.kind === "file" ? node.content.length : 0),
    link: () => (node.kind === "link" ? Buffer.byteLength(node.target) : 0),
    directory: () => 0,
  };
  return {
    name: baseName(path),
    path,
    size_bytes: sizes[node.kind](),
    is_dir: node.kind === "directory",
    mod_time: node.modified.toISOString(),
    mode: modeText(node),
  };
}

const typeLetters = { file: "-", directory: "d", link: "l" } as const;
const specialLetters = ["s", "s", "t"] as const;

function modeText({ kind, mode }: TreeNode): string {
  const groups = specialLetters.map((letter, index) => {
    const bits = (mode >> (6 - 3 * index)) & 7;
    const special = (mode & (0o4000 >> index)) !== 0;
    const execute = special ? (bits & 1 ? letter : letter.toUpperCase()) : bits & 1 ? "x" : "-";
    return `${bits & 4 ? "r" : "-"}${bits & 2 ? "w" : "-"}${execute}`;
  });
  return typeLetters[kind] + groups.join("");
}
