import type { Snapshot } from "@shoal/schemas";
import { useNavigate } from "@tanstack/react-router";
import { Camera, Play } from "lucide-react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { sizeText } from "../../base/texts.ts";
import { useAction } from "../../parts/action.ts";
import { Ago } from "../../parts/moment.tsx";
import { ListPage } from "../../parts/table/list-page.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { useDeletion } from "../../parts/table/use-deletion.ts";

const columns: readonly Column<Snapshot>[] = [
  { name: "Name", cell: ({ id, name }) => <NameCell below={id}>{name ?? "Without a name"}</NameCell>, share: 1.6 },
  { name: "Session", cell: ({ session_id: id }) => id, share: 1.2 },
  { name: "State", cell: ({ engine }) => (engine === "exact" ? "Exact" : "Restored"), share: 0.7 },
  { name: "Size", cell: ({ size_bytes: bytes }) => sizeText(bytes), share: 0.7 },
  { name: "Taken", cell: ({ created_at: at }) => <Ago at={at} /> },
  { name: "Deleted", cell: ({ expires_at: at }) => <Ago at={at} /> },
];

export function SnapshotsPage() {
  const { project, shoal } = useSignedIn();
  const canOperate = useCanOperate();
  return (
    <ListPage
      title="Snapshots"
      description="Stored states of sessions. Others start from them, with the same logins and pages."
      programs={{
        sdk: `const { id } = await shoal.browsers.snapshot("research", { name: "signed in" });
await shoal.browsers.create({ snapshot: { id } });`,
        cli: 'browsers snapshot research --name "signed in"',
        curl: { method: "POST", path: "/browsers/research/snapshots" },
      }}
    >
      <ResourceList
        label="Snapshots"
        queryKey={["snapshots", project?.id]}
        read={(request, options) => shoal.snapshots.list(request, options)}
        idOf={({ id }) => id}
        columns={columns}
        {...(canOperate && { menu: (snapshot: Snapshot) => <SnapshotMenu snapshot={snapshot} /> })}
        empty={{ icon: Camera, title: "No snapshots" }}
      />
    </ListPage>
  );
}

function SnapshotMenu({ snapshot: { id, name = id } }: { readonly snapshot: Snapshot }) {
  const { shoal } = useSignedIn();
  const navigate = useNavigate();
  const start = useAction({
    act: () => shoal.browsers.create({ snapshot: { id } }),
    told: () => `A session started from snapshot ${name}.`,
    done: ({ session_id }) => navigate({ to: "/sessions/$id", params: { id: session_id } }),
    changes: [["browsers"]],
  });
  const deletion = useDeletion({
    kind: "snapshot",
    name,
    text: "Sessions that started from it continue.",
    act: () => shoal.snapshots.delete(id),
    changes: [["snapshots"]],
  });
  return (
    <RowMenu
      label={`Actions for snapshot ${name}`}
      actions={[{ label: "Start a session", icon: Play, run: start.mutate }, deletion]}
    />
  );
}
