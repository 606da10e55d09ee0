import { Anchor, Badge, Button, Card, Group, TextInput, Title } from "@mantine/core";
import type { Project } from "@shoal/schemas";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { FolderOpen, Plus } from "lucide-react";
import { useState } from "react";
import { sessionQuery } from "../../api/console-session.ts";
import { useOrganization } from "../../api/shoal.ts";
import { Details } from "../../parts/details.tsx";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Page } from "../../parts/page.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { NoMatch } from "../../parts/table/no-match.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { SearchField } from "../../parts/table/search-field.tsx";
import { useList } from "../../parts/table/use-list.ts";

const columns: readonly Column<Project>[] = [
  {
    name: "Name",
    cell: ({ id, name }) => (
      <Anchor fw={600} size="sm" renderRoot={(props) => <Link to="/projects/$id" params={{ id }} {...props} />}>
        {name}
      </Anchor>
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
  const { query } = useSearch({ from: "/projects" });
  const navigate = useNavigate({ from: "/projects" });
  const list = useList(["projects", query], (page, options) => shoal.projects.list({ ...page, query }, options));
  return (
    <Page
      title="Projects"
      description="Projects separate sessions, profiles, keys and limits."
      actions={isAdmin && <CreateButton />}
    >
      <SearchField
        label="Search by name"
        value={query}
        change={(value) => void navigate({ search: (before) => ({ ...before, query: value }), replace: true })}
      />
      <ResourceTable
        label="Projects"
        list={list}
        idOf={({ id }) => id}
        columns={columns}
        empty={query === undefined ? <Empty icon={FolderOpen} title="No projects" /> : <NoMatch />}
      />
      <OrganizationLimits />
      <ProgramCard
        programs={{
          sdk: `const project = await shoal.projects.create({ name: "sales" });
await shoal.projects.limits.update(project.id, { max_concurrent_sessions: 20 });`,
          cli: "projects create sales\nshoal projects limits update sales --max-concurrent-sessions 20",
          curl: { method: "POST", path: "/org/projects", body: { name: "sales" } },
        }}
      />
    </Page>
  );
}

function CreateButton() {
  const { shoal } = useOrganization();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        leftSection={<Plus size={16} aria-hidden />}
        onClick={() => {
          setOpen(true);
        }}
      >
        New project
      </Button>
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
        close={() => {
          setOpen(false);
        }}
      >
        {({ text }) => <TextInput label="Name" {...text("name")} required maxLength={255} data-autofocus />}
      </FormDialog>
    </>
  );
}

/** Limits of all projects together, and the default of projects without their own limit. */
function OrganizationLimits() {
  const { shoal, isAdmin } = useOrganization();
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ["organization-limits"],
    queryFn: async ({ signal }) => shoal.organization.limits.get({ signal }),
  });
  const standard = data?.default_project_max_concurrent_sessions;
  return (
    <Card withBorder padding="lg">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          Limits of the organization
        </Title>
        {isAdmin && data !== undefined && (
          <Button
            size="xs"
            variant="default"
            onClick={() => {
              setOpen(true);
            }}
          >
            Change the default
          </Button>
        )}
      </Group>
      {error !== null && data === undefined && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && (
        <Details
          rows={[
            ["Sessions at once, in all projects", data.max_concurrent_sessions],
            ["Default of a project", standard ?? "The limit of the organization"],
            ["Connections", `${data.auth_connections_used ?? 0} of ${data.max_auth_connections ?? "any number"}`],
          ]}
        />
      )}
      <FormDialog
        isOpen={isOpen}
        title="Default limit of projects"
        action="Save"
        initial={{ default_project_max_concurrent_sessions: standard?.toString() ?? "" }}
        submit={({ default_project_max_concurrent_sessions: limit }) =>
          shoal.organization.limits.update({ default_project_max_concurrent_sessions: Number(limit) })
        }
        done={() => {
          setOpen(false);
          void queries.invalidateQueries({ queryKey: ["organization-limits"] });
        }}
        close={() => {
          setOpen(false);
        }}
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
    </Card>
  );
}
