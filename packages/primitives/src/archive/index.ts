export { packFolder } from "./pack-folder.ts";
export { ArchiveError, type ArchiveLimits, unpackArchive, type UnpackOptions } from "./unpack-archive.ts";
