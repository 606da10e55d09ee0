import {
  linkLoop,
  modeForbids,
  notADirectory,
  notAFile,
  parentNotADirectory,
  pathMissing,
  protectedPath,
  type ProtectedAction,
} from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { below, isWithin, segmentsOf } from "./paths.ts";

interface Attributes {
  mode: number;
  modified: Date;
}
export interface FileNode extends Attributes {
  readonly kind: "file";
  readonly content: Uint8Array;
}
export interface DirectoryNode extends Attributes {
  readonly kind: "directory";
  readonly children: Map<string, TreeNode>;
}
export interface LinkNode extends Attributes {
  readonly kind: "link";
  readonly target: string;
}
export type TreeNode = FileNode | DirectoryNode | LinkNode;

/** A resolved path, with all links followed. */
export interface Location {
  /** The requested path, normalised. */
  readonly path: string;
  /** The deepest existing node; a directory if names are missing below it. */
  readonly node: TreeNode;
  /** Absolute path of `node` without links. */
  readonly realPath: string;
  /** Missing names below `node`. */
  readonly missing: readonly string[];
}

export type Change =
  | { readonly type: "CREATE" | "WRITE" | "DELETE"; readonly path: string; readonly node: TreeNode }
  | {
      readonly type: "MOVE";
      readonly path: string;
      readonly node: TreeNode;
      readonly destination: string;
      readonly replaced: boolean;
    };

export const home = "/home/shoal";
const given = [`${home}/Downloads`, "/tmp"];
/** Paths that cannot be deleted or moved, nor can their parents. */
const protectedPaths: readonly (readonly [path: string, what: string])[] = [
  ["/", "the root of the filesystem"],
  [home, "the home directory"],
  ["/tmp", "a mounted filesystem"],
];
/** The limit of Linux. */
const maxLinks = 40;

export function directory(mode = 0o755): DirectoryNode {
  return { kind: "directory", children: new Map(), mode, modified: new Date() };
}

export function kindOf(node: TreeNode): string {
  return node.kind === "link" ? "a symbolic link" : `a ${node.kind}`;
}

/** A session's filesystem in memory. Listeners receive every change in order. */
export class FileTree {
  readonly root = directory();
  readonly #listeners = new Set<(change: Change) => void>();

  constructor() {
    for (const path of given) this.makeDirectories(this.locate(path, { follow: true, action: "create" }), 0o755);
  }

  /** @returns a function that removes the listener. */
  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * @param options.follow - whether to follow a final link; a dangling link resolves to its target.
   * @param options.action - for error messages: `read`.
   */
  locate(path: string, { action, follow }: { readonly action: string; readonly follow: boolean }): Location {
    const pending = segmentsOf(path).reverse();
    const trail: { readonly name: string; readonly node: TreeNode }[] = [];
    const realPath = () => below("/", ...trail.map(({ name }) => name));
    let links = 0;
    for (;;) {
      const name = pending.pop();
      const here = trail.at(-1)?.node ?? this.root;
      if (name === undefined) return { path, node: here, realPath: realPath(), missing: [] };
      if (name === "" || name === ".") continue;
      if (name === "..") {
        trail.pop();
        continue;
      }
      if (here.kind !== "directory") throw ServiceError.of(parentNotADirectory(action, path));
      const next = here.children.get(name);
      if (next === undefined) {
        const missing = [name, ...pending.reverse()];
        if (missing.includes("..")) throw ServiceError.of(pathMissing(action, path));
        return {
          path,
          node: here,
          realPath: realPath(),
          missing: missing.filter((part) => part !== "" && part !== "."),
        };
      }
      if (next.kind === "link" && (pending.length > 0 || follow)) {
        if (++links > maxLinks) throw ServiceError.of(linkLoop(action, path));
        if (next.target.startsWith("/")) trail.length = 0;
        pending.push(...next.target.split("/").reverse());
        continue;
      }
      trail.push({ name, node: next });
    }
  }

  /** @throws {ServiceError} 404 for a missing path. */
  find(path: string, options: { readonly action: string; readonly follow: boolean }): Location {
    const found = this.locate(path, options);
    if (found.missing.length > 0) throw ServiceError.of(pathMissing(options.action, path));
    return found;
  }

  /** Makes the missing directories of a location. @param mode - of the last directory; parents get 0755. */
  makeDirectories(
    { missing, node, realPath }: Location,
    mode: number,
  ): { readonly node: DirectoryNode; readonly realPath: string } {
    if (node.kind !== "directory") throw ServiceError.of(notADirectory("create", realPath, kindOf(node)));
    let here = { node, realPath };
    for (const [index, name] of missing.entries())
      here = {
        node: this.#put(here, name, directory(index === missing.length - 1 ? mode : 0o755)),
        realPath: below(here.realPath, name),
      };
    return here;
  }

  /**
   * Writes a file atomically, with missing directories. @param mode - default: the replaced file's mode, or 0644.
   * @throws {ServiceError} 400 `not_a_file` if the path exists and is not a file, 403 if the file is not writable.
   */
  writeFile(path: string, content: Uint8Array, mode: number | undefined): void {
    const place = this.writable(path);
    const file = { kind: "file", content, modified: new Date() } as const;
    if (place.missing.length === 0) {
      const directoryPath = place.realPath.slice(0, place.realPath.lastIndexOf("/")) || "/";
      const parent = this.locate(directoryPath, { follow: false, action: "write" });
      if (parent.node.kind !== "directory") return;
      this.#put(
        { node: parent.node, realPath: parent.realPath },
        place.realPath.slice(place.realPath.lastIndexOf("/") + 1),
        {
          ...file,
          mode: mode ?? place.node.mode,
        },
      );
      return;
    }
    const parent = this.makeDirectories({ ...place, missing: place.missing.slice(0, -1) }, 0o755);
    this.#put(parent, place.missing.at(-1) ?? "", { ...file, mode: mode ?? 0o644 });
  }

  /** Resolves the path of a file to write, following links, and checks that it is writable. */
  writable(path: string): Location {
    const place = this.locate(path, { follow: true, action: "write" });
    if (place.missing.length > 0) return place;
    if (place.node.kind !== "file") throw ServiceError.of(notAFile("write", path, kindOf(place.node)));
    if ((place.node.mode & 0o200) === 0) throw ServiceError.of(modeForbids("write", path));
    return place;
  }

  remove(realPath: string): void {
    const { name, node: parent } = this.#parentOf(realPath);
    const node = parent.children.get(name);
    if (node === undefined) return;
    if (node.kind === "directory") for (const inner of [...node.children.keys()]) this.remove(below(realPath, inner));
    parent.children.delete(name);
    parent.modified = new Date();
    this.#tell({ type: "DELETE", path: realPath, node });
  }

  /** Moves a file or directory; a file or link at the destination is replaced. */
  move(from: string, to: string): void {
    const source = this.#parentOf(from);
    const target = this.#parentOf(to);
    const node = source.node.children.get(source.name);
    if (node === undefined) return;
    const replaced = target.node.children.has(target.name);
    source.node.children.delete(source.name);
    target.node.children.set(target.name, node);
    source.node.modified = target.node.modified = new Date();
    this.#tell({ type: "MOVE", path: from, node, destination: to, replaced });
  }

  /** Merges a tree into a directory. Existing directories keep their mode; files and links are replaced. */
  merge(into: { readonly node: DirectoryNode; readonly realPath: string }, tree: DirectoryNode): void {
    for (const [name, node] of tree.children) {
      const known = into.node.children.get(name);
      const realPath = below(into.realPath, name);
      if (node.kind !== "directory") this.#put(into, name, node);
      else
        this.merge(
          { node: known?.kind === "directory" ? known : this.#put(into, name, directory(node.mode)), realPath },
          node,
        );
    }
  }

  /** @throws {ServiceError} 403 `protected_path` for a path that cannot be deleted or moved. */
  refuseProtected(realPath: string, path: string, action: ProtectedAction): void {
    for (const [kept, what] of protectedPaths)
      if (isWithin(realPath, kept))
        throw ServiceError.of(protectedPath(action, path, `it ${realPath === kept ? "is" : "holds"} ${what}`));
  }

  #put<N extends TreeNode>(
    parent: { readonly node: DirectoryNode; readonly realPath: string },
    name: string,
    node: N,
  ): N {
    const type = parent.node.children.has(name) ? "WRITE" : "CREATE";
    parent.node.children.set(name, node);
    parent.node.modified = new Date();
    this.#tell({ type, path: below(parent.realPath, name), node });
    return node;
  }

  #parentOf(realPath: string): { readonly node: DirectoryNode; readonly name: string } {
    const names = segmentsOf(realPath);
    const name = names.pop() ?? "";
    let node = this.root;
    for (const part of names) {
      const next = node.children.get(part);
      if (next?.kind !== "directory") throw ServiceError.of(pathMissing("find", realPath));
      node = next;
    }
    return { node, name };
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}
