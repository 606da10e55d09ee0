import { Anchor, Group, Table } from "@mantine/core";
import type { FileInfo } from "@shoal/schemas";
import { File, Folder, Link2 } from "lucide-react";
import { sizeText } from "../../../base/texts.ts";
import { Ago } from "../../../parts/moment.tsx";
import { FilesFrame } from "./files-frame.tsx";
import { SaveButton } from "./save-button.tsx";

interface FileTableProps {
  readonly id: string;
  readonly files: readonly FileInfo[];
  readonly open: (file: FileInfo) => void;
}

const inOrder = (one: FileInfo, other: FileInfo) =>
  Number(other.is_dir) - Number(one.is_dir) || one.name.localeCompare(other.name);

export function FileTable({ id, files, open }: FileTableProps) {
  return (
    <FilesFrame dated="Changed">
      {files.toSorted(inOrder).map((file) => (
        <FileRow key={file.path} id={id} file={file} open={open} />
      ))}
    </FilesFrame>
  );
}

interface FileRowProps extends Pick<FileTableProps, "id" | "open"> {
  readonly file: FileInfo;
}

function FileRow({ id, file, open }: FileRowProps) {
  const { name, size_bytes, is_dir, mod_time, mode, is_escaped } = file;
  const Icon = is_dir ? Folder : mode.startsWith("l") ? Link2 : File;
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap={8} wrap="nowrap">
          <Icon size={16} aria-hidden style={{ flex: "none" }} />
          <Anchor
            component="button"
            type="button"
            size="sm"
            disabled={is_escaped === true}
            onClick={() => {
              open(file);
            }}
            style={{ overflowWrap: "anywhere", textAlign: "left" }}
          >
            {name}
          </Anchor>
        </Group>
      </Table.Td>
      <Table.Td>{is_dir ? "" : sizeText(size_bytes)}</Table.Td>
      <Table.Td visibleFrom="sm">
        <Ago at={mod_time} />
      </Table.Td>
      <Table.Td>{is_escaped !== true && <DownloadButton id={id} file={file} />}</Table.Td>
    </Table.Tr>
  );
}

function DownloadButton({ id, file: { path, name, is_dir } }: { readonly id: string; readonly file: FileInfo }) {
  return (
    <SaveButton
      name={name}
      title={is_dir ? "Download as ZIP" : "Download"}
      answer={{
        path: `/browsers/${id}/fs/${is_dir ? "download_dir_zip" : "read_file"}`,
        query: { path },
        name: is_dir ? `${name}.zip` : name,
      }}
    />
  );
}
