import type { NetworkRecording } from "@shoal/schemas";
import { useNavigate } from "@tanstack/react-router";
import { CassetteTape, Clock, Play } from "lucide-react";
import { useCanOperate, useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { sizeText } from "../../base/texts.ts";
import { useAction } from "../../parts/action.ts";
import { Ago } from "../../parts/moment.tsx";
import { ListPage } from "../../parts/table/list-page.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { useDeletion } from "../../parts/table/use-deletion.ts";

const runningMs = 5_000;

const columns: readonly Column<NetworkRecording>[] = [
  {
    name: "Recording",
    cell: ({ id, session_id: of }) => <NameCell below={`of session ${of}`}>{id}</NameCell>,
    share: 1.8,
  },
  { name: "State", cell: ({ status }) => stateOf(status), share: 0.8 },
  { name: "Requests", cell: (recording) => requestsOf(recording), share: 1.2 },
  {
    name: "Size",
    cell: ({ size_bytes: bytes, status }) => (status === "recording" ? "–" : sizeText(bytes)),
    share: 0.7,
  },
  { name: "Seed", cell: ({ seed }) => seed ?? "None", share: 0.6 },
  { name: "Started", cell: ({ created_at: at }) => <Ago at={at} /> },
  { name: "Deleted", cell: ({ expires_at: at }) => (at === undefined ? "–" : <Ago at={at} />) },
];

function stateOf(status: NetworkRecording["status"]): string {
  return status === "recording" ? "Recording" : status === "complete" ? "Complete" : "Failed";
}

function requestsOf({ left_out: leftOut, requests, status, truncated }: NetworkRecording): string {
  if (status === "recording") return "–";
  const notes = [...(leftOut > 0 ? [`${String(leftOut)} without an answer`] : []), ...(truncated ? ["full"] : [])];
  return [String(requests), ...notes].join(", ");
}

export function NetworkRecordingsPage() {
  const { project, shoal } = useSignedIn();
  const canOperate = useCanOperate();
  return (
    <ListPage
      title="Network recordings"
      description="Answers that browsers got. Other sessions get them again, without a network."
      programs={{
        sdk: `const { network_recording_id: recording } = await shoal.browsers.create({ recording: { network: true } });
await shoal.browsers.create({ replay: { recording } });`,
        cli: "browsers create --recording-network",
        curl: { method: "POST", path: "/browsers", body: { recording: { network: true } } },
      }}
    >
      <ResourceList
        label="Network recordings"
        queryKey={["network-recordings", project?.id]}
        read={(request, options) => shoal.networkRecordings.list(request, options)}
        refreshMs={runningMs}
        idOf={({ id }) => id}
        columns={columns}
        {...(canOperate && { menu: (recording: NetworkRecording) => <RecordingMenu recording={recording} /> })}
        empty={{ icon: CassetteTape, title: "No network recordings" }}
      />
    </ListPage>
  );
}

function RecordingMenu({ recording: { id, status } }: { readonly recording: NetworkRecording }) {
  const { shoal } = useSignedIn();
  // A replay needs the right to stored values.
  const isAdmin = useIsAdmin();
  const navigate = useNavigate();
  const start = useAction({
    act: (clock: "real" | "recorded") => shoal.browsers.create({ replay: { recording: id, clock } }),
    told: () => "A session started from the recording.",
    done: ({ session_id }) => navigate({ to: "/sessions/$id", params: { id: session_id } }),
    changes: [["browsers"]],
  });
  const deletion = useDeletion({
    kind: "network recording",
    name: id,
    text: "Sessions that replay it get no more answers.",
    act: () => shoal.networkRecordings.delete(id),
    changes: [["network-recordings"]],
  });
  const startWith = (clock: "real" | "recorded") => () => {
    start.mutate(clock);
  };
  const starts = [
    { label: "Start a session", icon: Play, run: startWith("real") },
    { label: "Start with the recorded clock", icon: Clock, run: startWith("recorded") },
  ];
  if (status === "recording") return undefined;
  return (
    <RowMenu
      label={`Actions for network recording ${id}`}
      actions={[...(isAdmin && status === "complete" ? starts : []), deletion]}
    />
  );
}
