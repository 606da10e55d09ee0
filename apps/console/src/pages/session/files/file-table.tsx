import { ActionIcon, Anchor, Group, Table, VisuallyHidden } from "@mantine/core";
import type { FileInfo } from "@shoal/schemas";
import { Download, File, Folder, Link2 } from "lucide-react";
import { useSignedIn } from "../../../api/shoal.ts";
import { saveAnswer } from "../../../api/save-answer.ts";
import { sizeText } from "../../../base/texts.ts";
import { Ago } from "../../../parts/moment.tsx";
import { useAction } from "../../../parts/action.ts";

interface FileTableProps {
  readonly id: string;
  readonly files: readonly FileInfo[];
  readonly open: (file: FileInfo) => void;
}

const inOrder = (one: FileInfo, other: FileInfo) =>
  Number(other.is_dir) - Number(one.is_dir) || one.name.localeCompare(other.name);

export function FileTable({ id, files, open }: FileTableProps) {
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table highlightOnHover verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th w={100}>Size</Table.Th>
            <Table.Th w={140} visibleFrom="sm">
              Changed
            </Table.Th>
            <Table.Th w={50}>
              <VisuallyHidden>Download</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {files.toSorted(inOrder).map((file) => (
            <FileRow key={file.path} id={id} file={file} open={open} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
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
  const { project } = useSignedIn();
  const download = useAction({
    act: () =>
      saveAnswer({
        project: project?.id,
        path: `/browsers/${id}/fs/${is_dir ? "download_dir_zip" : "read_file"}`,
        query: { path },
        name: is_dir ? `${name}.zip` : name,
      }),
    changes: [],
  });
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={`Download ${name}`}
      title={is_dir ? "Download as ZIP" : "Download"}
      loading={download.isPending}
      onClick={() => {
        download.mutate();
      }}
    >
      <Download size={16} aria-hidden />
    </ActionIcon>
  );
}
