import { Badge, Button, Card, Code, Group, Menu, Skeleton, Stack, Table, Text } from "@mantine/core";
import "@mantine/core/styles/Code.css";
import type { ApiKey, CreatedApiKey } from "@shoal/schemas";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { EllipsisVertical, KeyRound, Plus, RotateCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { useSignedIn } from "../../api/shoal.ts";
import { Ago, Moment } from "../../parts/moment.tsx";
import { useNow } from "../../parts/now.ts";
import { tell, tellFailure } from "../../parts/notices.ts";
import { Page } from "../../parts/page.tsx";
import { Empty, Failure } from "../../parts/states.tsx";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { CreateDialog } from "./create-dialog.tsx";
import { SecretDialog } from "./secret-dialog.tsx";

const pageSize = 50;

export function KeysPage() {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const [created, setCreated] = useState<CreatedApiKey>();
  const [isCreating, setCreating] = useState(false);
  const list = useInfiniteQuery({
    queryKey: ["keys"],
    queryFn: ({ pageParam, signal }) => shoal.apiKeys.list({ limit: pageSize, offset: pageParam }, { signal }),
    initialPageParam: 0,
    getNextPageParam: (page) => page.nextOffset,
  });
  const show = (key: CreatedApiKey) => {
    setCreating(false);
    setCreated(key);
    void queries.invalidateQueries({ queryKey: ["keys"] });
  };
  const keys = list.data?.pages.flatMap(({ items }) => items);
  return (
    <Page
      title="API keys"
      description="Keys authenticate programs. The service stores their hashes only."
      actions={
        <Button
          leftSection={<Plus size={16} aria-hidden />}
          onClick={() => {
            setCreating(true);
          }}
        >
          New key
        </Button>
      }
    >
      {list.error !== null && <Failure error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Skeleton height={240} aria-label="Reading the keys" />}
      {keys?.length === 0 && (
        <Empty icon={KeyRound} title="No API keys">
          Create one for each program, so that you can replace them separately.
        </Empty>
      )}
      {keys !== undefined && keys.length > 0 && <KeyTable keys={keys} show={show} />}
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          More keys
        </Button>
      )}
      <CreateDialog
        isOpen={isCreating}
        close={() => {
          setCreating(false);
        }}
        done={show}
      />
      <SecretDialog
        created={created}
        close={() => {
          setCreated(undefined);
        }}
      />
    </Page>
  );
}

interface KeyTableProps {
  readonly keys: readonly ApiKey[];
  readonly show: (key: CreatedApiKey) => void;
}

function KeyTable({ keys, show }: KeyTableProps) {
  return (
    <Card withBorder padding={0}>
      <Table.ScrollContainer minWidth={640}>
        <Table verticalSpacing="sm" horizontalSpacing="md">
          <Table.Thead>
            <Table.Tr>
              {["Name", "Key", "Project", "Last use", "Expires", "Actions"].map((name) => (
                <Table.Th key={name}>{name}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {keys.map((key) => (
              <KeyRow key={key.id} apiKey={key} show={show} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
}

function KeyRow({ apiKey, show }: { readonly apiKey: ApiKey; readonly show: KeyTableProps["show"] }) {
  const { name, masked_key, project_name, last_used_at, expires_at, created_by } = apiKey;
  return (
    <Table.Tr>
      <Table.Td>
        <Stack gap={0}>
          <Text size="sm" fw={600}>
            {name}
          </Text>
          <Text size="xs" c="dimmed">
            by {created_by.name ?? created_by.email}, <Ago at={apiKey.created_at} />
          </Text>
        </Stack>
      </Table.Td>
      <Table.Td>
        <Code>{masked_key}</Code>
      </Table.Td>
      <Table.Td>{project_name ?? "All projects"}</Table.Td>
      <Table.Td>{last_used_at === undefined ? "Never" : <Ago at={last_used_at} />}</Table.Td>
      <Table.Td>
        <Expiry at={expires_at} />
      </Table.Td>
      <Table.Td>
        <KeyMenu apiKey={apiKey} show={show} />
      </Table.Td>
    </Table.Tr>
  );
}

function Expiry({ at }: { readonly at: string | null }) {
  const now = useNow();
  if (at === null) return <>Never</>;
  return Date.parse(at) > now ? (
    <Moment at={at} />
  ) : (
    <Badge color="gray" variant="light" tt="none">
      Expired
    </Badge>
  );
}

function KeyMenu({ apiKey: { id, name }, show }: { readonly apiKey: ApiKey; readonly show: KeyTableProps["show"] }) {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<"rotate" | "delete">();
  const close = () => {
    setAsked(undefined);
  };
  const rotate = useMutation({ mutationFn: () => shoal.apiKeys.rotate(id), onSuccess: show, onError: tellFailure });
  const remove = useMutation({
    mutationFn: async () => {
      await shoal.apiKeys.delete(id);
    },
    onSuccess: () => {
      tell(`Key ${name} was deleted.`);
    },
    onError: tellFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: ["keys"] }),
  });
  return (
    <Group justify="flex-start">
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="subtle" color="gray" size="compact-sm" aria-label={`Actions for key ${name}`}>
            <EllipsisVertical size={16} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<RotateCw size={16} aria-hidden />}
            onClick={() => {
              setAsked("rotate");
            }}
          >
            Rotate
          </Menu.Item>
          <Menu.Item
            color="red"
            leftSection={<Trash2 size={16} aria-hidden />}
            onClick={() => {
              setAsked("delete");
            }}
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        isOpen={asked === "rotate"}
        title={`Rotate key ${name}?`}
        text="You get a new key. The old one works for seven more days."
        action="Rotate the key"
        close={close}
        confirm={() => {
          close();
          rotate.mutate();
        }}
      />
      <ConfirmDialog
        isOpen={asked === "delete"}
        title={`Delete key ${name}?`}
        text="Programs with this key stop working at once. Live views and consoles that it opened end."
        action="Delete the key"
        isDangerous
        close={close}
        confirm={() => {
          close();
          remove.mutate();
        }}
      />
    </Group>
  );
}
