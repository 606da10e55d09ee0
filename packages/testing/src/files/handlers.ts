import type { browserFs } from "@shoal/contract";
import { ServiceError, type Handlers } from "@shoal/router";
import { posix } from "node:path";
import { Readable } from "node:stream";
import type { SessionRow } from "../store.ts";
import { invalidInput, notADirectory, notAFile, notFound, notPermitted } from "./errors.ts";
import { describeFile } from "./file-info.ts";
import { home, kindOf, type FileTree } from "./file-tree.ts";
import { baseName, below, isWithin, normalisePath } from "./paths.ts";
import { byText } from "../listing.ts";
import { maxUploadBytes, readWhole, uploadFiles, uploadZip } from "./uploads.ts";
import { packZip } from "./zip.ts";

/** Users and groups of a session: name and number. The session runs as the first. */
const users: readonly (readonly [name: string, id: number])[] = [
  ["shoal", 1000],
  ["nobody", 65_534],
];

/** Handlers of a session's files and watches. @param sessionOf - the session that a call is for. */
export function fileHandlers<Context>(sessionOf: (context: Context) => SessionRow): Handlers<typeof browserFs, Context> {
  const treeOf = (context: Context): FileTree => sessionOf(context).files;

  return {
    readFile: ({ query, context }) => {
      const path = normalisePath(query.path, "query.path");
      const { node } = treeOf(context).find(path, { follow: true, action: "read" });
      if (node.kind !== "file") throw notAFile("read", path, kindOf(node));
      if ((node.mode & 0o400) === 0) throw notPermitted("read", path);
      return { stream: streamOf([node.content]), sizeBytes: node.content.length, fileName: baseName(path) };
    },
    writeFile: async ({ query, body, context }) => {
      const path = normalisePath(query.path, "query.path");
      const tree = treeOf(context);
      tree.writable(path);
      tree.writeFile(path, await readWhole(body, path, maxUploadBytes), octal(query.mode));
    },
    listFiles: ({ query, context }) => {
      const path = normalisePath(query.path, "query.path");
      const { node } = treeOf(context).find(path, { follow: true, action: "list" });
      if (node.kind !== "directory") throw notADirectory("list", path, kindOf(node));
      return [...node.children].sort(([a], [b]) => byText(a, b)).map(([name, child]) => describeFile(below(path, name), child));
    },
    createDirectory: ({ body, context }) => {
      const path = normalisePath(body.path, "body.path");
      const found = treeOf(context).locate(path, { follow: true, action: "create" });
      if (found.node.kind !== "directory") throw notADirectory("create", path, kindOf(found.node));
      treeOf(context).makeDirectories(found, octal(body.mode) ?? 0o755);
    },
    deleteFile: ({ body, context }) => {
      const path = normalisePath(body.path, "body.path");
      const { node, realPath } = treeOf(context).find(path, { follow: false, action: "delete" });
      if (node.kind === "directory") throw notAFile("delete", path, "a directory");
      treeOf(context).remove(realPath);
    },
    deleteDirectory: ({ body, query, context }) => {
      const path = normalisePath(body.path, "body.path");
      const { missing, node, realPath } = treeOf(context).locate(path, { follow: false, action: "delete" });
      if (missing.length > 0) {
        if (query.missing_ok) return;
        throw new ServiceError(404, "not_found", `Cannot delete ${path}: it does not exist. Send missing_ok=true if that is no error.`);
      }
      if (node.kind !== "directory") throw notADirectory("delete", path, kindOf(node));
      treeOf(context).refuseProtected(realPath, path, "delete");
      treeOf(context).remove(realPath);
    },
    setFilePermissions: ({ body, context }) => {
      const path = normalisePath(body.path, "body.path");
      const ids = [idOf(body.owner, "body.owner"), idOf(body.group, "body.group")];
      const { node } = treeOf(context).find(path, { follow: true, action: "set the permissions of" });
      if (ids.some((id) => id !== undefined && id !== 1000))
        throw new ServiceError(
          403,
          "permission_denied",
          `Cannot give ${path} away: the operating system does not permit it to the user that the session runs as (1000). Leave out owner and group.`,
        );
      node.mode = Number.parseInt(body.mode, 8);
    },
    getFileInfo: ({ query, context }) => {
      const path = normalisePath(query.path, "query.path");
      return describeFile(path, treeOf(context).find(path, { follow: false, action: "describe" }).node);
    },
    movePath: ({ body, context }) => {
      move(treeOf(context), normalisePath(body.src_path, "body.src_path"), normalisePath(body.dest_path, "body.dest_path"));
    },
    uploadFiles: ({ body, context }) => uploadFiles(treeOf(context), body),
    uploadZip: ({ body, context }) => uploadZip(treeOf(context), body),
    downloadDirZip: ({ query, context }) => {
      const path = normalisePath(query.path, "query.path");
      const { node } = treeOf(context).find(path, { follow: true, action: "pack" });
      if (node.kind !== "directory") throw notADirectory("pack", path, kindOf(node));
      return { stream: streamOf(packZip(node)), fileName: `${path === "/" ? "root" : baseName(path)}.zip` };
    },
    startWatch: ({ body, context }) => ({ watch_id: sessionOf(context).watches.start(normalisePath(body.path, "body.path"), body.recursive) }),
    watchEvents: ({ params, lastEventId, context }) => sessionOf(context).watches.events(params.watch_id, lastEventId),
    stopWatch: ({ params, context }) => {
      sessionOf(context).watches.stop(params.watch_id);
    },
  };
}

function move(tree: FileTree, sourcePath: string, destinationPath: string): void {
  const source = tree.find(sourcePath, { follow: false, action: "move" });
  const destination = tree.locate(destinationPath, { follow: false, action: "move to" });
  if (destination.missing.length > 1) throw notFound("move to", `${destinationPath}, because ${posix.dirname(destinationPath)}`);
  tree.refuseProtected(source.realPath, sourcePath, "move");
  const to = below(destination.realPath, ...destination.missing);
  if (source.realPath === to) return;
  if (source.node.kind === "directory" && isWithin(source.realPath, to)) {
    throw new ServiceError(
      400,
      "bad_request",
      `Cannot move ${sourcePath} to ${destinationPath}: a directory cannot be moved into itself. Choose a destination outside of it.`,
    );
  }
  if (destination.missing.length === 0) {
    if (destination.node.kind === "directory")
      throw new ServiceError(
        409,
        "conflict",
        `Cannot move ${sourcePath} to ${destinationPath}: it is an existing directory. Name the new path inside it, or delete it first.`,
      );
    if (source.node.kind === "directory")
      throw new ServiceError(
        409,
        "conflict",
        `Cannot move ${sourcePath} to ${destinationPath}: a directory does not replace ${kindOf(destination.node)}. Delete it first, or choose another destination.`,
      );
  } else if (destination.node.kind !== "directory") throw notADirectory("move to", destinationPath, kindOf(destination.node));
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
  if (id === undefined)
    throw invalidInput(
      field,
      `there is no ${name} in the session (${users.map(([known]) => known).join(", ")}, home ${home}); give the name of one that is there, or a number`,
    );
  return id;
}
