import { Anchor, Badge, Button, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Project } from "@shoal/schemas";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { FolderOpen } from "lucide-react";
import { sessionQuery } from "../../api/console-session.ts";
import { useOrganization } from "../../api/shoal.ts";
import { Details } from "../../parts/detail/details.tsx";
import { Section } from "../../parts/detail/section.tsx";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { ListPage } from "../../parts/table/list-page.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";

const columns: readonly Column<Project>[] = [
  {
    name: "Name",
    cell: ({ id, name }) => (
      <NameCell>
        <Anchor inherit renderRoot={(props) => <Link to="/projects/$id" params={{ id }} {...props} />}>
          {name}
        </Anchor>
      </NameCell>
    ),
    share: 2,
  },
  { name: "Status", cell: ({ status }) => <ProjectStatus status={status} /> },
  { name: "Network", cell: ({ network }) => (network === undefined ? "No rules" : "Has rules") },
  { name: "Created", cell: ({ created_at }) => <Moment at={created_at} />, share: 1.4 },
];

export function ProjectStatus({ status }: { readonly status: string }) {
  return status === "active" ? (
    <Badge variant="dot" color="green" tt="none">
      Active
    </Badge>
  ) : (
    <Badge variant="light" color="gray" tt="none">
      Archived
    </Badge>
  );
}

export function ProjectsPage() {
  const { shoal, isAdmin } = useOrganization();
  const [isCreating, creating] = useDisclosure();
  return (
    <ListPage
      title="Projects"
      description="Projects separate sessions, profiles, keys and limits."
      create={isAdmin && { label: "New project", run: creating.open }}
      search="Search by name"
      programs={{
        sdk: `const project = await shoal.projects.create({ name: "sales" });
await shoal.projects.limits.update(project.id, { max_concurrent_sessions: 20 });`,
        cli: "projects create sales\nshoal projects limits update sales --max-concurrent-sessions 20",
        curl: { method: "POST", path: "/org/projects", body: { name: "sales" } },
      }}
    >
      <ResourceList
        label="Projects"
        queryKey={["projects"]}
        read={(request, options) => shoal.projects.list(request, options)}
        idOf={({ id }) => id}
        columns={columns}
        empty={{ icon: FolderOpen, title: "No projects" }}
      />
      <OrganizationLimits />
      <CreateDialog isOpen={isCreating} close={creating.close} />
    </ListPage>
  );
}

interface CreateDialogProps {
  readonly isOpen: boolean;
  readonly close: () => void;
}

function CreateDialog({ isOpen, close }: CreateDialogProps) {
  const { shoal } = useOrganization();
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <FormDialog
      isOpen={isOpen}
      title="New project"
      action="Create"
      initial={{ name: "" }}
      submit={({ name }) => shoal.projects.create({ name })}
      done={({ id }) => {
        void queries.invalidateQueries({ queryKey: ["projects"] });
        // The list of projects in the header.
        void queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
        void navigate({ to: "/projects/$id", params: { id } });
      }}
      close={close}
    >
      {({ text }) => <TextInput label="Name" {...text("name")} required maxLength={255} data-autofocus />}
    </FormDialog>
  );
}

/** Limits of all projects together, and the default of projects without their own limit. */
function OrganizationLimits() {
  const { shoal, isAdmin } = useOrganization();
  const queries = useQueryClient();
  const [isChanging, changing] = useDisclosure();
  const { data, error, refetch } = useQuery({
    queryKey: ["organization-limits"],
    queryFn: async ({ signal }) => shoal.organization.limits.get({ signal }),
  });
  const standard = data?.default_project_max_concurrent_sessions;
  return (
    <Section
      title="Limits of the organization"
      actions={
        isAdmin &&
        data !== undefined && (
          <Button size="xs" variant="default" onClick={changing.open}>
            Change the default
          </Button>
        )
      }
    >
      {error !== null && data === undefined && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && (
        <Details
          rows={[
            ["Sessions at once, in all projects", data.max_concurrent_sessions],
            ["Default of a project", standard ?? "The limit of the organization"],
            [
              "Connections",
              `${data.auth_connections_used ?? 0}${data.max_auth_connections == null ? ", without a limit" : ` of ${data.max_auth_connections}`}`,
            ],
          ]}
        />
      )}
      <FormDialog
        isOpen={isChanging}
        title="Default limit of projects"
        action="Save"
        initial={{ default_project_max_concurrent_sessions: standard?.toString() ?? "" }}
        submit={({ default_project_max_concurrent_sessions: limit }) =>
          shoal.organization.limits.update({ default_project_max_concurrent_sessions: Number(limit) })
        }
        done={() => {
          changing.close();
          void queries.invalidateQueries({ queryKey: ["organization-limits"] });
        }}
        close={changing.close}
      >
        {({ text }) => (
          <TextInput
            label="Sessions at once"
            description="For projects without their own limit. Empty = no default."
            inputMode="numeric"
            pattern="[0-9]*"
            {...text("default_project_max_concurrent_sessions")}
            data-autofocus
          />
        )}
      </FormDialog>
    </Section>
  );
}
