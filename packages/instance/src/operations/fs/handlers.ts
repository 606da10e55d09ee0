import type * as contract from "@shoal/contract";
import type { Handler } from "@shoal/router";
import { createDirectory, deleteDirectory, deleteFile, listFiles } from "./directories.ts";
import { defaultLimits, type FileSystemLimits } from "./limits.ts";
import { movePath } from "./move.ts";
import { normalisePath, type SessionRoot } from "./paths.ts";
import { setFilePermissions } from "./permissions.ts";
import { fileInfo, readFile } from "./files/read.ts";
import { uploadFiles } from "./files/upload.ts";
import { writeFile } from "./files/write.ts";
import { downloadDirZip } from "./zip/zip-download.ts";

export interface FileSystemHandlers {
  readonly readFile: Handler<typeof contract.readFile, unknown>;
  readonly writeFile: Handler<typeof contract.writeFile, unknown>;
  readonly listFiles: Handler<typeof contract.listFiles, unknown>;
  readonly createDirectory: Handler<typeof contract.createDirectory, unknown>;
  readonly deleteFile: Handler<typeof contract.deleteFile, unknown>;
  readonly deleteDirectory: Handler<typeof contract.deleteDirectory, unknown>;
  readonly setFilePermissions: Handler<typeof contract.setFilePermissions, unknown>;
  readonly getFileInfo: Handler<typeof contract.getFileInfo, unknown>;
  readonly movePath: Handler<typeof contract.movePath, unknown>;
  readonly uploadFiles: Handler<typeof contract.uploadFiles, unknown>;
  readonly uploadZip: Handler<typeof contract.uploadZip, unknown>;
  readonly downloadDirZip: Handler<typeof contract.downloadDirZip, unknown>;
}

export function fileSystemHandlers(root: SessionRoot, limits: Partial<FileSystemLimits> = {}): FileSystemHandlers {
  const bounds: FileSystemLimits = { ...defaultLimits, ...limits };
  return {
    readFile: ({ query }) => readFile(root, normalisePath(query.path, "query.path")),
    async writeFile({ body, headers, query }) {
      const announced = headers["content-length"];
      const path = normalisePath(query.path, "query.path");
      await writeFile(
        root,
        {
          path,
          mode: octal(query.mode),
          content: body,
          announcedBytes: announced === undefined ? undefined : Number(announced),
        },
        bounds,
      );
    },
    listFiles: ({ query }) => listFiles(root, normalisePath(query.path, "query.path")),
    createDirectory: ({ body }) =>
      createDirectory(root, normalisePath(body.path, "body.path"), octal(body.mode) ?? 0o755),
    deleteFile: ({ body }) => deleteFile(root, normalisePath(body.path, "body.path")),
    deleteDirectory: ({ body, query }) =>
      deleteDirectory(root, normalisePath(body.path, "body.path"), { missingOk: query.missing_ok, limits: bounds }),
    setFilePermissions: ({ body }) =>
      setFilePermissions(root, normalisePath(body.path, "body.path"), {
        mode: Number.parseInt(body.mode, 8),
        owner: body.owner,
        group: body.group,
      }),
    getFileInfo: ({ query }) => fileInfo(root, normalisePath(query.path, "query.path")),
    movePath: ({ body }) =>
      movePath(root, normalisePath(body.src_path, "body.src_path"), normalisePath(body.dest_path, "body.dest_path")),
    uploadFiles: ({ body }) => uploadFiles(root, body, bounds),
    async uploadZip({ body, signal }) {
      // Loaded on first use, to keep the start fast.
      const { uploadZip } = await import("./zip/zip-upload.ts");
      await uploadZip(root, body, { limits: bounds, signal });
    },
    downloadDirZip: ({ query }) => downloadDirZip(root, normalisePath(query.path, "query.path")),
  };
}

function octal(mode: string): number;
function octal(mode: string | undefined): number | undefined;
function octal(mode: string | undefined): number | undefined {
  return mode === undefined ? undefined : Number.parseInt(mode, 8);
}
