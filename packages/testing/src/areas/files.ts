import type { browserFs } from "@shoal/contract";
import {
  destinationIsDirectory,
  directoryMissing,
  directoryReplaces,
  modeForbids,
  movedIntoItself,
  notADirectory,
  notAFile,
  ownerUnchangeable,
  pathMissing,
} from "@shoal/contract/refusals";
import { badInput, ServiceError, type BytesReply, type Handlers } from "@shoal/router";
import type { FileInfo, SetFilePermissions } from "@shoal/schemas";
import { posix } from "node:path";
import { Readable } from "node:stream";
import type * as z from "zod/mini";
import type { SessionRow } from "../state/store.ts";
import { describeFile } from "../files/file-info.ts";
import { kindOf, type FileTree } from "../files/file-tree.ts";
import { baseName, below, isWithin, normalisePath } from "../files/paths.ts";
import { byText } from "../state/listing.ts";
import { maxUploadBytes, readWhole, uploadFiles, uploadZip } from "../files/uploads.ts";
import { packZip } from "../files/zip.ts";

const ownId = 1000;
const users: readonly (readonly [name: string, id: number])[] = [
  ["shoal", ownId],
  ["nobody", 65_534],
];

interface Context {
  readonly session: SessionRow | undefined;
}

function sessionOf({ session }: Context): SessionRow {
  if (session === undefined) throw new TypeError("An operation on files has no session.");
  return session;
}

export function fileHandlers(): Handlers<typeof browserFs, Context> {
  const treeOf = (context: Context): FileTree => sessionOf(context).files;
  return {
    readFile: ({ query, context }) => readFile(treeOf(context), normalisePath(query.path, "query.path")),
    writeFile: async ({ query, body, context }) => {
      const path = normalisePath(query.path, "query.path");
      const tree = treeOf(context);
      tree.writable(path);
      tree.writeFile(path, await readWhole(body, path, maxUploadBytes), octal(query.mode));
    },
    listFiles: ({ query, context }) => listFiles(treeOf(context), normalisePath(query.path, "query.path")),
    createDirectory: ({ body, context }) => {
      createDirectory(treeOf(context), normalisePath(body.path, "body.path"), octal(body.mode) ?? 0o755);
    },
    deleteFile: ({ body, context }) => {
      deleteFile(treeOf(context), normalisePath(body.path, "body.path"));
    },
    deleteDirectory: ({ body, query, context }) => {
      deleteDirectory(treeOf(context), normalisePath(body.path, "body.path"), query.missing_ok);
    },
    setFilePermissions: ({ body, context }) => {
      setPermissions(treeOf(context), normalisePath(body.path, "body.path"), body);
    },
    getFileInfo: ({ query, context }) => {
      const path = normalisePath(query.path, "query.path");
      return describeFile(path, treeOf(context).find(path, { follow: false, action: "describe" }).node);
    },
    movePath: ({ body, context }) => {
      const source = normalisePath(body.src_path, "body.src_path");
      move(treeOf(context), source, normalisePath(body.dest_path, "body.dest_path"));
    },
    uploadFiles: ({ body, context }) => uploadFiles(treeOf(context), body),
    uploadZip: ({ body, context }) => uploadZip(treeOf(context), body),
    downloadDirZip: ({ query, context }) => downloadZip(treeOf(context), normalisePath(query.path, "query.path")),
    startWatch: ({ body, context }) => ({
      watch_id: sessionOf(context).watches.start(normalisePath(body.path, "body.path"), body.recursive),
    }),
    watchEvents: ({ params, lastEventId, context }) => sessionOf(context).watches.events(params.watch_id, lastEventId),
    stopWatch: ({ params, context }) => {
      sessionOf(context).watches.stop(params.watch_id);
    },
  };
}

function readFile(tree: FileTree, path: string): BytesReply {
  const { node } = tree.find(path, { follow: true, action: "read" });
  if (node.kind !== "file") throw ServiceError.of(notAFile("read", path, kindOf(node)));
  if ((node.mode & 0o400) === 0) throw ServiceError.of(modeForbids("read", path));
  return { stream: streamOf([node.content]), sizeBytes: node.content.length, fileName: baseName(path) };
}

function listFiles(tree: FileTree, path: string): FileInfo[] {
  const { node } = tree.find(path, { follow: true, action: "list" });
  if (node.kind !== "directory") throw ServiceError.of(notADirectory("list", path, kindOf(node)));
  return [...node.children]
    .sort(([a], [b]) => byText(a, b))
    .map(([name, child]) => describeFile(below(path, name), child));
}

function createDirectory(tree: FileTree, path: string, mode: number): void {
  const found = tree.locate(path, { follow: true, action: "create" });
  if (found.node.kind !== "directory") throw ServiceError.of(notADirectory("create", path, kindOf(found.node)));
  tree.makeDirectories(found, mode);
}

function deleteFile(tree: FileTree, path: string): void {
  const { node, realPath } = tree.find(path, { follow: false, action: "delete" });
  if (node.kind === "directory") throw ServiceError.of(notAFile("delete", path, kindOf(node)));
  tree.remove(realPath);
}

function deleteDirectory(tree: FileTree, path: string, missingOk: boolean): void {
  const { missing, node, realPath } = tree.locate(path, { follow: false, action: "delete" });
  if (missing.length > 0) {
    if (missingOk) return;
    throw ServiceError.of(directoryMissing(path));
  }
  if (node.kind !== "directory") throw ServiceError.of(notADirectory("delete", path, kindOf(node)));
  tree.refuseProtected(realPath, path, "delete");
  tree.remove(realPath);
}

function setPermissions(
  tree: FileTree,
  path: string,
  { owner, group, mode }: z.output<typeof SetFilePermissions>,
): void {
  const uid = idOf(owner, "body.owner") ?? ownId;
  const gid = idOf(group, "body.group") ?? ownId;
  const { node, realPath } = tree.find(path, { follow: true, action: "set the permissions of" });
  const bits = Number.parseInt(mode, 8);
  if ((bits & 0o700) !== 0o700) tree.refuseProtected(realPath, path, "close");
  if (uid !== ownId || gid !== ownId) throw ServiceError.of(ownerUnchangeable(path, { uid, gid, user: ownId }));
  node.mode = bits;
}

function downloadZip(tree: FileTree, path: string): BytesReply {
  const { node } = tree.find(path, { follow: true, action: "pack" });
  if (node.kind !== "directory") throw ServiceError.of(notADirectory("pack", path, kindOf(node)));
  return { stream: streamOf(packZip(node)), fileName: `${path === "/" ? "root" : baseName(path)}.zip` };
}

function move(tree: FileTree, sourcePath: string, destinationPath: string): void {
  const source = tree.find(sourcePath, { follow: false, action: "move" });
  const destination = tree.locate(destinationPath, { follow: false, action: "move to" });
  if (destination.missing.length > 1)
    throw ServiceError.of(pathMissing("move to", `${destinationPath}, because ${posix.dirname(destinationPath)}`));
  tree.refuseProtected(source.realPath, sourcePath, "move");
  const to = below(destination.realPath, ...destination.missing);
  if (source.realPath === to) return;
  if (source.node.kind === "directory" && isWithin(source.realPath, to))
    throw ServiceError.of(movedIntoItself(sourcePath, destinationPath));
  if (destination.missing.length === 0) {
    if (destination.node.kind === "directory")
      throw ServiceError.of(destinationIsDirectory(sourcePath, destinationPath));
    if (source.node.kind === "directory")
      throw ServiceError.of(directoryReplaces(sourcePath, destinationPath, kindOf(destination.node)));
  } else if (destination.node.kind !== "directory")
    throw ServiceError.of(notADirectory("move to", destinationPath, kindOf(destination.node)));
  tree.move(source.realPath, to);
}

function streamOf(chunks: readonly Uint8Array[]): Readable {
  return Readable.from(
    chunks.filter(({ length }) => length > 0),
    { objectMode: false },
  );
}

function octal(mode: string | undefined): number | undefined {
  return mode === undefined ? undefined : Number.parseInt(mode, 8);
}

function idOf(name: string | undefined, field: string): number | undefined {
  if (name === undefined) return undefined;
  if (/^\d+$/.test(name)) return Number(name);
  const id = users.find(([known]) => known === name)?.[1];
  if (id === undefined) {
    const known = users.map(([user]) => user).join(", ");
    throw badInput(field, `the session has no ${name}`, { limit: known, hint: "Send an existing name or a number." });
  }
  return id;
}
