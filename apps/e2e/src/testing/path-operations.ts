import type { BrowserFiles } from "@shoal/client";
import { zipOf } from "./zip.ts";

export const bytesOf = async ({ stream }: { stream: ReadableStream<Uint8Array<ArrayBuffer>> }) =>
  new Uint8Array(await new Response(stream).arrayBuffer());

/**
 * The field's name in a refusal, and whether the operation makes missing directories. Add a line for each new
 * operation.
 */
export const pathOperations: Readonly<
  Record<
    string,
    {
      readonly field: string;
      readonly makes?: true;
      readonly call: (fs: BrowserFiles, id: string, path: string) => Promise<unknown>;
    }
  >
> = {
  readFile: { field: "query.path", call: (fs, id, path) => fs.readBytes(id, { path }) },
  writeFile: { field: "query.path", makes: true, call: (fs, id, path) => fs.writeFile(id, "x", { path }) },
  listFiles: { field: "query.path", call: (fs, id, path) => fs.listFiles(id, { path }) },
  createDirectory: { field: "body.path", makes: true, call: (fs, id, path) => fs.createDirectory(id, { path }) },
  deleteFile: { field: "body.path", call: (fs, id, path) => fs.deleteFile(id, { path }) },
  deleteDirectory: { field: "body.path", call: (fs, id, path) => fs.deleteDirectory(id, { path }) },
  setFilePermissions: { field: "body.path", call: (fs, id, path) => fs.setFilePermissions(id, { path, mode: "644" }) },
  fileInfo: { field: "query.path", call: (fs, id, path) => fs.fileInfo(id, { path }) },
  "move from": {
    field: "body.src_path",
    call: (fs, id, path) => fs.move(id, { src_path: path, dest_path: "/home/shoal/never" }),
  },
  "move to": {
    field: "body.dest_path",
    makes: true,
    call: async (fs, id, path) => {
      await fs.writeFile(id, "1", { path: "/home/shoal/Downloads/there" });
      await fs.move(id, { src_path: "/home/shoal/Downloads/there", dest_path: path });
    },
  },
  upload: {
    field: "body.files[0][dest_path]",
    makes: true,
    call: (fs, id, path) => fs.upload(id, { files: [{ dest_path: path, file: new Blob(["x"]) }] }),
  },
  uploadZip: {
    field: "body.dest_path",
    makes: true,
    call: async (fs, id, path) =>
      fs.uploadZip(id, { dest_path: path, zip_file: await zipOf([{ name: "x", content: "x" }]) }),
  },
  downloadDirZip: { field: "query.path", call: async (fs, id, path) => bytesOf(await fs.downloadDirZip(id, { path })) },
  "watch.start": { field: "body.path", call: (fs, id, path) => fs.watch.start(id, { path }) },
};
