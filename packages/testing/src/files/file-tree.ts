import { ServiceError } from "@shoal/router";
import { notADirectory, notAFile, notFound, notPermitted } from "./errors.ts";
import { below, isWithin, segmentsOf } from "./paths.ts";

interface Attributes {
  /** Permission bits. */
  mode: number;
  /** When the content last changed. */
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

/** What a path leads to, with every link on the way followed. */
export interface Location {
  /** The path as it was asked for, normalised. */
  readonly path: string;
  /** The deepest thing on it that exists; it is a directory where something is missing. */
  readonly node: TreeNode;
  /** Where that lies. */
  readonly realPath: string;
  /** Names below it that do not exist. */
  readonly missing: readonly string[];
}

/** Something that happened to the tree. */
export type Change =
  | { readonly type: "CREATE" | "WRITE" | "DELETE"; readonly path: string; readonly node: TreeNode }
  | { readonly type: "MOVE"; readonly path: string; readonly node: TreeNode; readonly destination: string; readonly replaced: boolean };

/** Home directory of a session. */
export const home = "/home/shoal";
/** Directories that a session has from its start. */
const given = [`${home}/Downloads`, "/tmp"];
/** What is never deleted or moved, nor is what holds it. */
const protectedPaths: readonly (readonly [path: string, what: string])[] = [
  ["/", "the root of the filesystem"],
  [home, "the home directory"],
  ["/tmp", "a mounted filesystem"],
];
/** As many links as Linux follows. */
const maxLinks = 40;

export function directory(mode = 0o755): DirectoryNode {
  return { kind: "directory", children: new Map(), mode, modified: new Date() };
}

/** What something is, in words: `a directory`. */
export function kindOf(node: TreeNode): string {
  return node.kind === "link" ? "a symbolic link" : `a ${node.kind}`;
}

/** A session's filesystem, in memory. Tells its listeners of every change, in order. */
export class FileTree {
  readonly root = directory();
  readonly #listeners = new Set<(change: Change) => void>();

  constructor() {
    for (const path of given) this.makeDirectories(this.locate(path, { follow: true, action: "create" }), 0o755);
  }

  /** @returns ends it. */
  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Walks a path.
   *
   * @param options.follow - whether a link at its end is followed; a dangling one leads to what it names.
   * @param options.action - for errors, what is tried: `read`.
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
      if (here.kind !== "directory") throw notADirectory(action, path, "below something that is not a directory");
      const next = here.children.get(name);
      if (next === undefined) {
        const missing = [name, ...pending.reverse()];
        if (missing.includes("..")) throw notFound(action, path);
        return { path, node: here, realPath: realPath(), missing: missing.filter((part) => part !== "" && part !== ".") };
      }
      if (next.kind === "link" && (pending.length > 0 || follow)) {
        if (++links > maxLinks)
          throw new ServiceError(
            400,
            "bad_request",
            `Cannot ${action} ${path}: its symbolic links lead in a circle, or through too many others. Name the file that is meant.`,
          );
        if (next.target.startsWith("/")) trail.length = 0;
        pending.push(...next.target.split("/").reverse());
        continue;
      }
      trail.push({ name, node: next });
    }
  }

  /** What a path leads to. @throws {ServiceError} 404 when something of it is missing. */
  find(path: string, options: { readonly action: string; readonly follow: boolean }): Location {
    const found = this.locate(path, options);
    if (found.missing.length > 0) throw notFound(options.action, path);
    return found;
  }

  /** Makes the missing directories of a location. @param mode - of the last one; those above get 0755. */
  makeDirectories({ missing, node, realPath }: Location, mode: number): { readonly node: DirectoryNode; readonly realPath: string } {
    if (node.kind !== "directory") throw notADirectory("create", realPath, kindOf(node));
    let here = { node, realPath };
    for (const [index, name] of missing.entries())
      here = { node: this.#put(here, name, directory(index === missing.length - 1 ? mode : 0o755)), realPath: below(here.realPath, name) };
    return here;
  }

  /**
   * Writes a file, in one step; missing directories are made.
   *
   * @param mode - when absent that of the file that is replaced, or 0644.
   * @throws {ServiceError} 400 `not_a_file` when something else is there, 403 when the file may not be written.
   */
  writeFile(path: string, content: Uint8Array, mode: number | undefined): void {
    const place = this.writable(path);
    const file = { kind: "file", content, modified: new Date() } as const;
    if (place.missing.length === 0) {
      const directoryPath = place.realPath.slice(0, place.realPath.lastIndexOf("/")) || "/";
      const parent = this.locate(directoryPath, { follow: false, action: "write" });
      if (parent.node.kind !== "directory") return;
      this.#put({ node: parent.node, realPath: parent.realPath }, place.realPath.slice(place.realPath.lastIndexOf("/") + 1), {
        ...file,
        mode: mode ?? place.node.mode,
      });
      return;
    }
    const parent = this.makeDirectories({ ...place, missing: place.missing.slice(0, -1) }, 0o755);
    this.#put(parent, place.missing.at(-1) ?? "", { ...file, mode: mode ?? 0o644 });
  }

  /** Finds out where a file is to be written, and that it may be. A link is followed. */
  writable(path: string): Location {
    const place = this.locate(path, { follow: true, action: "write" });
    if (place.missing.length > 0) return place;
    if (place.node.kind !== "file") throw notAFile("write", path, kindOf(place.node));
    if ((place.node.mode & 0o200) === 0) throw notPermitted("write", path);
    return place;
  }

  /** Removes a thing with all that is in it. */
  remove(realPath: string): void {
    const { name, node: parent } = this.#parentOf(realPath);
    const node = parent.children.get(name);
    if (node === undefined) return;
    if (node.kind === "directory") for (const inner of [...node.children.keys()]) this.remove(below(realPath, inner));
    parent.children.delete(name);
    parent.modified = new Date();
    this.#tell({ type: "DELETE", path: realPath, node });
  }

  /** Moves a thing; a file or link at the destination is replaced. */
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

  /** Puts a whole tree into a directory. Directories that exist stay and keep their mode, files and links are replaced. */
  merge(into: { readonly node: DirectoryNode; readonly realPath: string }, tree: DirectoryNode): void {
    for (const [name, node] of tree.children) {
      const known = into.node.children.get(name);
      const realPath = below(into.realPath, name);
      if (node.kind !== "directory") this.#put(into, name, node);
      else this.merge({ node: known?.kind === "directory" ? known : this.#put(into, name, directory(node.mode)), realPath }, node);
    }
  }

  /** @throws {ServiceError} 403 `protected_path` for what is never deleted or moved. */
  refuseProtected(realPath: string, path: string, action: string): void {
    for (const [kept, what] of protectedPaths) {
      if (isWithin(realPath, kept))
        throw new ServiceError(
          403,
          "protected_path",
          `Cannot ${action} ${path}: it ${realPath === kept ? "is" : "holds"} ${what}. ${action === "delete" ? "Delete" : "Move"} what is in it instead.`,
        );
    }
  }

  #put<N extends TreeNode>(parent: { readonly node: DirectoryNode; readonly realPath: string }, name: string, node: N): N {
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
      if (next?.kind !== "directory") throw notFound("find", realPath);
      node = next;
    }
    return { node, name };
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}
