/**
 * The tables. Times are milliseconds since 1970 by the clock of the server. JSON is stored as text, because `jsonb`
 * rejects the escapes of NUL and of half a surrogate pair. A key is a hash of ids: ids come from clients and may be
 * longer than an index takes.
 */
export const tables = `
CREATE FUNCTION agui.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

CREATE FUNCTION agui.key_of(p_principal text, p_id text) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT sha256(convert_to(length(p_principal) || ':' || p_principal || p_id, 'UTF8'))
$$;

CREATE TABLE agui.sessions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key bytea NOT NULL UNIQUE,
  owner bytea NOT NULL,
  principal text NOT NULL,
  thread_id text NOT NULL,
  agent_id text NOT NULL,
  version integer NOT NULL,
  created_at bigint NOT NULL,
  last_activity bigint NOT NULL,
  message_count integer NOT NULL,
  metadata text NOT NULL,
  last_run_id text,
  size text NOT NULL,
  state text,
  data text NOT NULL,
  token text NOT NULL
);
CREATE INDEX sessions_recent ON agui.sessions (owner, last_activity DESC, id);
CREATE INDEX sessions_activity ON agui.sessions (last_activity);

CREATE TABLE agui.messages (
  session bigint NOT NULL,
  place integer NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (session, place)
);

-- The fence is the time of the opening in microseconds: never given twice, also not by a standby that lacks the
-- last transactions.
CREATE TABLE agui.runs (
  fence bigint PRIMARY KEY,
  run bytea NOT NULL UNIQUE,
  thread bytea NOT NULL,
  principal text NOT NULL,
  thread_id text NOT NULL,
  run_id text NOT NULL,
  agent_id text NOT NULL,
  protocol_version text,
  status text NOT NULL DEFAULT 'running',
  first bigint NOT NULL DEFAULT 1,
  last bigint NOT NULL DEFAULT 0,
  entries bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  commands bigint NOT NULL DEFAULT 0,
  token text NOT NULL,
  done text NOT NULL DEFAULT '',
  expires_at bigint NOT NULL,
  lease_ms bigint NOT NULL,
  watched_until bigint NOT NULL DEFAULT 0,
  ended_at bigint
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX runs_busy ON agui.runs (thread) WHERE status = 'running';
CREATE INDEX runs_thread ON agui.runs (thread);
CREATE INDEX runs_ended ON agui.runs (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE agui.entries (
  fence bigint NOT NULL,
  last bigint NOT NULL,
  first bigint NOT NULL,
  at double precision NOT NULL,
  bytes integer NOT NULL,
  cuts text,
  event text NOT NULL,
  PRIMARY KEY (fence, last)
);

CREATE TABLE agui.commands (
  fence bigint NOT NULL,
  number bigint NOT NULL,
  id text NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (fence, number)
);

CREATE TABLE agui.watchers (
  fence bigint NOT NULL,
  follower text NOT NULL,
  process text NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (fence, follower)
);
CREATE INDEX watchers_process ON agui.watchers (process);

CREATE TABLE agui.buckets (
  key bytea PRIMARY KEY,
  tokens double precision NOT NULL,
  wait double precision NOT NULL,
  at bigint NOT NULL,
  full_at double precision NOT NULL
);
CREATE INDEX buckets_full ON agui.buckets (full_at);

-- Without a size it is still being written.
CREATE TABLE agui.blobs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key bytea NOT NULL UNIQUE,
  principal text NOT NULL,
  name text NOT NULL,
  token text NOT NULL,
  size bigint,
  metadata text NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX blobs_expiry ON agui.blobs (expires_at);

CREATE TABLE agui.blob_pieces (
  blob bigint NOT NULL,
  place integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (blob, place)
);
ALTER TABLE agui.blob_pieces ALTER COLUMN bytes SET STORAGE EXTERNAL;
`;
