import { ActionIcon, Skeleton, Table, Text, VisuallyHidden } from "@mantine/core";
import type { Browser, BrowserDownload } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { Download, FolderX } from "lucide-react";
import { keptDownloadsQuery } from "../../../api/browser-queries.ts";
import { saveAnswer } from "../../../api/save-answer.ts";
import { useSignedIn } from "../../../api/shoal.ts";
import { sizeText } from "../../../base/texts.ts";
import { useAction } from "../../../parts/action.ts";
import { Ago } from "../../../parts/moment.tsx";
import { Empty, Failure } from "../../../parts/states.tsx";

/** The downloads of an ended session, which its service keeps for a time. */
export function KeptDownloads({ browser: { session_id: id } }: { readonly browser: Browser }) {
  const { shoal } = useSignedIn();
  const { data, error, refetch } = useQuery(keptDownloadsQuery(shoal, id));
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Skeleton height={120} aria-label="Reading the downloads" />;
  if (data === "not kept" || data.length === 0)
    return (
      <Empty icon={FolderX} title={data === "not kept" ? "The files are deleted" : "No downloads are kept"}>
        {data === "not kept"
          ? "They ended with the session. To keep downloads, the operator sets download_retention_hours."
          : "The session downloaded nothing, or the retention of its downloads has ended. Its other files ended with it."}
      </Empty>
    );
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        Downloads of the session. Its other files ended with it.
      </Text>
      <Table.ScrollContainer minWidth={320}>
        <Table highlightOnHover verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th w={100}>Size</Table.Th>
              <Table.Th w={140} visibleFrom="sm">
                Finished
              </Table.Th>
              <Table.Th w={50}>
                <VisuallyHidden>Download</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.map((download) => (
              <DownloadRow key={download.download_id} id={id} download={download} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}

function DownloadRow({ id, download }: { readonly id: string; readonly download: BrowserDownload }) {
  const { download_id, finished_at, name, path, size_bytes, state } = download;
  const { project } = useSignedIn();
  const save = useAction({
    act: () =>
      saveAnswer({ project: project?.id, path: `/browsers/${id}/downloads/${download_id}/content`, query: {}, name }),
    changes: [],
  });
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: "anywhere" }}>{name}</Table.Td>
      <Table.Td>{path === null ? state : sizeText(size_bytes ?? 0)}</Table.Td>
      <Table.Td visibleFrom="sm">{finished_at !== null && <Ago at={finished_at} />}</Table.Td>
      <Table.Td>
        {path !== null && (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Download ${name}`}
            title="Download"
            loading={save.isPending}
            onClick={() => {
              save.mutate();
            }}
          >
            <Download size={16} aria-hidden />
          </ActionIcon>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
