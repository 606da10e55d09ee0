import { Skeleton, Table, Text } from "@mantine/core";
import type { Browser, BrowserDownload } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { FolderX } from "lucide-react";
import { keptDownloadsQuery } from "../../../api/browser-queries.ts";
import { useSignedIn } from "../../../api/shoal.ts";
import { sizeText } from "../../../base/texts.ts";
import { Ago } from "../../../parts/moment.tsx";
import { Empty, Failure } from "../../../parts/states.tsx";
import { FilesFrame } from "./files-frame.tsx";
import { SaveButton } from "./save-button.tsx";

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
      <FilesFrame dated="Finished">
        {data.map((download) => (
          <DownloadRow key={download.download_id} id={id} download={download} />
        ))}
      </FilesFrame>
    </>
  );
}

function DownloadRow({ id, download }: { readonly id: string; readonly download: BrowserDownload }) {
  const { download_id, finished_at, name, path, size_bytes, state } = download;
  const answer = { path: `/browsers/${id}/downloads/${download_id}/content`, query: {}, name };
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: "anywhere" }}>{name}</Table.Td>
      <Table.Td>{path === null ? state : sizeText(size_bytes ?? 0)}</Table.Td>
      <Table.Td visibleFrom="sm">{finished_at !== null && <Ago at={finished_at} />}</Table.Td>
      <Table.Td>{path !== null && <SaveButton name={name} answer={answer} />}</Table.Td>
    </Table.Tr>
  );
}
