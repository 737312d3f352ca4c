-- Version 1 of the tables and functions of @holodeck/agui-sessions/postgres.
SELECT set_config('holodeck.search_path', current_setting('search_path'), true),
  set_config('search_path', 'pg_catalog, pg_temp', true);
SELECT pg_advisory_xact_lock(hashtext('agui'), 0);

CREATE SCHEMA IF NOT EXISTS agui;
CREATE TABLE IF NOT EXISTS agui.migrations (
  version integer PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
);

DO $$ BEGIN
  IF current_setting('server_encoding') <> 'UTF8' THEN
    RAISE EXCEPTION 'The database must have the encoding UTF8.';
  END IF;
  IF (SELECT coalesce(max(version), 0) FROM agui.migrations) <> 0 THEN
    RAISE EXCEPTION 'Version 1 does not follow the version of this schema.' USING ERRCODE = 'AGV01';
  END IF;
END $$;

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

-- Writes the end of a run. The caller has locked its row.
CREATE FUNCTION agui.end_run(
  p_fence bigint, p_status text, p_at double precision, p_event text, p_done text
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_bytes integer := octet_length(p_event) + 32;
  v_last bigint;
BEGIN
  UPDATE agui.runs SET status = p_status, last = last + 1, entries = entries + 1, bytes = bytes + v_bytes,
      done = p_done, ended_at = agui.now_ms()
    WHERE fence = p_fence RETURNING last INTO v_last;
  INSERT INTO agui.entries (fence, last, first, at, bytes, event)
    VALUES (p_fence, v_last, v_last, p_at, v_bytes, p_event);
  -- Watchers stay until they have read the end: a thread that is deleted waits for them.
  DELETE FROM agui.commands WHERE fence = p_fence;
  PERFORM pg_notify('agui', p_fence || ' ' || v_last);
END $$;

-- Whether a lease holds, by the clock of the server or by the time that the caller expects it to show: its date may
-- have been set since the owner renewed the lease. One that ends further away than it can does not hold.
CREATE FUNCTION agui.is_held(p_expires_at bigint, p_lease_ms bigint, p_expected bigint)
RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT p_expires_at - agui.now_ms() BETWEEN 1 AND p_lease_ms * 2
    OR coalesce(p_expires_at - p_expected BETWEEN 1 AND p_lease_ms * 2, false)
$$;

-- Ends a run whose lease has run out. Its owner, in case it lives, is notified.
CREATE FUNCTION agui.settle(p_fence bigint, p_event text, p_expected bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM agui.runs
    WHERE fence = p_fence AND status = 'running' AND NOT agui.is_held(expires_at, lease_ms, p_expected);
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM FROM agui.runs
    WHERE fence = p_fence AND status = 'running' AND NOT agui.is_held(expires_at, lease_ms, p_expected) FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM agui.end_run(p_fence, 'lost', agui.now_ms(), p_event, '');
  PERFORM pg_notify('agui', p_fence::text);
END $$;

CREATE FUNCTION agui.drop_runs(p_fences bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM agui.entries WHERE fence = ANY (p_fences);
  DELETE FROM agui.commands WHERE fence = ANY (p_fences);
  DELETE FROM agui.watchers WHERE fence = ANY (p_fences);
  DELETE FROM agui.runs WHERE fence = ANY (p_fences);
END $$;

CREATE FUNCTION agui.record_of(p_run agui.runs) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT json_build_object('fence', p_run.fence, 'principal', p_run.principal, 'threadId', p_run.thread_id,
    'runId', p_run.run_id, 'agentId', p_run.agent_id, 'protocolVersion', p_run.protocol_version,
    'status', p_run.status, 'first', p_run.first, 'last', p_run.last, 'now', agui.now_ms(),
    'left', p_run.expires_at - agui.now_ms())::text
$$;

-- Returns the fence, or the record of the run in its way.
CREATE FUNCTION agui.open_run(
  p_principal text, p_thread text, p_run text, p_agent text, p_version text, p_token text,
  p_lease_ms bigint, p_log_ms bigint, p_event text, p_expected bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_key bytea := agui.key_of(p_principal, p_run);
  v_thread bytea := agui.key_of(p_principal, p_thread);
  v_fence bigint;
  v_found agui.runs;
BEGIN
  FOR attempt IN 1..5 LOOP
    SELECT fence INTO v_fence FROM agui.runs WHERE run = v_key;
    IF FOUND THEN PERFORM agui.settle(v_fence, p_event, p_expected); END IF;
    SELECT fence INTO v_fence FROM agui.runs WHERE thread = v_thread AND status = 'running';
    IF FOUND THEN PERFORM agui.settle(v_fence, p_event, p_expected); END IF;

    SELECT * INTO v_found FROM agui.runs WHERE run = v_key FOR UPDATE;
    IF FOUND THEN
      IF v_found.token = p_token THEN RETURN v_found.fence; END IF;
      -- One whose log has nothing but its end never started.
      IF v_found.status = 'running' OR (v_found.last > 1 AND v_found.ended_at > agui.now_ms() - p_log_ms) THEN
        RETURN agui.record_of(v_found);
      END IF;
    END IF;
    v_fence := v_found.fence;
    SELECT * INTO v_found FROM agui.runs WHERE thread = v_thread AND status = 'running';
    IF FOUND THEN RETURN agui.record_of(v_found); END IF;
    IF v_fence IS NOT NULL THEN PERFORM agui.drop_runs(ARRAY[v_fence]); END IF;
    BEGIN
      INSERT INTO agui.runs (fence, run, thread, principal, thread_id, run_id, agent_id, protocol_version, token,
          expires_at, lease_ms)
        VALUES (greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint, (
            SELECT max(fence) + 1 FROM agui.runs WHERE thread = v_thread)),
          v_key, v_thread, p_principal, p_thread, p_run, p_agent, p_version, p_token, agui.now_ms() + p_lease_ms,
          p_lease_ms)
        RETURNING fence INTO v_fence;
      RETURN v_fence;
    EXCEPTION WHEN unique_violation THEN
      -- Another process opened the thread or the run, or took this fence, in the same moment.
    END;
  END LOOP;
  -- A transaction that does not see what others commit never comes to an end here; the next one does.
  RAISE EXCEPTION 'Another process opened run or thread in the same moment.' USING ERRCODE = 'serialization_failure';
END $$;

CREATE FUNCTION agui.trim_log(p_fence bigint, p_max_entries bigint, p_max_bytes bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_run agui.runs;
  v_gone record;
BEGIN
  SELECT * INTO v_run FROM agui.runs WHERE fence = p_fence;
  WHILE v_run.entries > 1 AND (v_run.entries > p_max_entries OR v_run.bytes > p_max_bytes) LOOP
    SELECT max(ranked.last) AS last, count(*) AS entries, sum(ranked.bytes) AS bytes INTO v_gone FROM (
      SELECT oldest.last, oldest.bytes, row_number() OVER places AS place, sum(oldest.bytes) OVER places AS total
      FROM (
        SELECT e.last, e.bytes FROM agui.entries e
          WHERE e.fence = p_fence AND e.last >= v_run.first ORDER BY e.last LIMIT 100
      ) oldest WINDOW places AS (ORDER BY oldest.last)
    ) ranked WHERE v_run.entries - ranked.place >= 1 AND (
      v_run.entries - ranked.place + 1 > p_max_entries OR v_run.bytes - ranked.total + ranked.bytes > p_max_bytes);
    EXIT WHEN v_gone.last IS NULL;
    DELETE FROM agui.entries WHERE fence = p_fence AND last BETWEEN v_run.first AND v_gone.last;
    v_run.first := v_gone.last + 1;
    v_run.entries := v_run.entries - v_gone.entries;
    v_run.bytes := v_run.bytes - v_gone.bytes;
  END LOOP;
  UPDATE agui.runs SET first = v_run.first, entries = v_run.entries, bytes = v_run.bytes WHERE fence = p_fence;
END $$;

-- When a lease ends that is renewed now: no earlier than before, unless that is further away than it can be.
CREATE FUNCTION agui.later_end(p_before bigint, p_now bigint, p_lease_ms bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_before > p_now + p_lease_ms * 2 THEN p_now + p_lease_ms
    ELSE greatest(p_before, p_now + p_lease_ms) END
$$;

-- Appends one batch for each of several runs. Returns for each of them 'ok', 'lost', or the last offset that is
-- stored when the batch does not follow it.
CREATE FUNCTION agui.append(
  p_fences bigint[], p_firsts bigint[], p_lasts bigint[], p_dones text[],
  e_fences bigint[], e_firsts bigint[], e_lasts bigint[], e_ats double precision[], e_cuts text[], e_events text[],
  p_lease_ms bigint, p_max_entries bigint, p_max_bytes bigint, p_durable integer
) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  v_now bigint := agui.now_ms();
  v_run record;
  v_held bigint[] := '{}';
BEGIN
  -- A crash of the server may take the last moments of a text; a process that is alive appends them again.
  IF p_durable = 0 THEN PERFORM set_config('synchronous_commit', 'off', true); END IF;
  FOR v_run IN
    WITH entry AS (
      SELECT e.*, octet_length(e.event) + coalesce(octet_length(e.cuts), 0) + 32 AS bytes
        FROM unnest(e_fences, e_firsts, e_lasts, e_ats, e_cuts, e_events) AS e (fence, first, last, at, cuts, event)
    ), batch AS (
      SELECT b.*, s.entries, s.bytes
        FROM unnest(p_fences, p_firsts, p_lasts, p_dones) AS b (fence, first, last, done)
        JOIN (SELECT fence, count(*) AS entries, sum(bytes) AS bytes FROM entry GROUP BY fence) s USING (fence)
    ), held AS (
      UPDATE agui.runs r SET last = b.last, entries = r.entries + b.entries, bytes = r.bytes + b.bytes,
          done = b.done, expires_at = agui.later_end(r.expires_at, v_now, p_lease_ms)
        FROM batch b WHERE r.fence = b.fence AND r.status = 'running' AND r.last = b.first - 1
        RETURNING r.fence, r.last, r.entries, r.bytes, r.watched_until
    ), written AS (
      INSERT INTO agui.entries (fence, last, first, at, bytes, cuts, event)
        SELECT e.fence, e.last, e.first, e.at, e.bytes, e.cuts, e.event FROM entry e JOIN held USING (fence)
    )
    SELECT * FROM held
  LOOP
    v_held := v_held || v_run.fence;
    IF v_run.entries > p_max_entries OR v_run.bytes > p_max_bytes THEN
      PERFORM agui.trim_log(v_run.fence, p_max_entries, p_max_bytes);
    END IF;
    -- Only where a process follows it: notifying is what keeps commits apart.
    IF v_run.watched_until > v_now THEN
      PERFORM pg_notify('agui', v_run.fence || ' ' || v_run.last);
    END IF;
  END LOOP;
  RETURN QUERY SELECT CASE
      WHEN b.fence = ANY (v_held) OR r.done = b.done THEN 'ok'
      WHEN r.fence IS NULL OR r.status <> 'running' THEN 'lost'
      ELSE r.last::text
    END
    FROM unnest(p_fences, p_dones) WITH ORDINALITY AS b (fence, done, place)
    LEFT JOIN agui.runs r ON r.fence = b.fence ORDER BY b.place;
END $$;

-- Without an offset the end follows whatever is stored.
CREATE FUNCTION agui.close_run(
  p_fence bigint, p_offset bigint, p_status text, p_at double precision, p_event text, p_done text,
  p_max_entries bigint, p_max_bytes bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_run agui.runs;
BEGIN
  SELECT * INTO v_run FROM agui.runs WHERE fence = p_fence FOR UPDATE;
  IF v_run.done = p_done THEN RETURN 'ok'; END IF;
  IF v_run.fence IS NULL OR v_run.status <> 'running' THEN RETURN 'lost'; END IF;
  IF p_offset <> v_run.last + 1 THEN RETURN v_run.last; END IF;
  PERFORM agui.end_run(p_fence, p_status, p_at, p_event, p_done);
  PERFORM agui.trim_log(p_fence, p_max_entries, p_max_bytes);
  RETURN 'ok';
END $$;

-- Renews leases and watchers when it is given a time, and returns what this process has not received.
CREATE FUNCTION agui.look(
  p_process text, p_lease_ms bigint, p_watch_ms bigint, p_owned bigint[], p_seen bigint[], p_watched bigint[]
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_now bigint := agui.now_ms();
BEGIN
  IF p_lease_ms > 0 THEN
    -- A row that is locked is being written to, which renews it as well.
    WITH free AS (
      SELECT fence FROM agui.runs WHERE fence = ANY (p_owned || p_watched) AND status = 'running'
        ORDER BY fence FOR UPDATE SKIP LOCKED
    )
    UPDATE agui.runs r SET
        expires_at = CASE WHEN r.fence = ANY (p_owned) THEN agui.later_end(r.expires_at, v_now, p_lease_ms)
          ELSE r.expires_at END,
        watched_until = CASE WHEN r.fence = ANY (p_watched) THEN greatest(r.watched_until, v_now + p_watch_ms)
          ELSE r.watched_until END
      FROM free WHERE r.fence = free.fence;
    UPDATE agui.watchers SET expires_at = v_now + p_watch_ms WHERE process = p_process;
  END IF;
  RETURN json_build_object('now', v_now,
    'lost', (SELECT coalesce(json_agg(o.fence), '[]') FROM unnest(p_owned) AS o (fence)
      WHERE NOT EXISTS (SELECT FROM agui.runs r WHERE r.fence = o.fence AND r.status = 'running')),
    'commands', (SELECT coalesce(json_agg(json_build_array(c.fence, c.number, c.value) ORDER BY c.fence, c.number),
        '[]') FROM unnest(p_owned, p_seen) AS o (fence, seen)
      JOIN agui.commands c ON c.fence = o.fence AND c.number > o.seen),
    'lasts', (SELECT coalesce(json_agg(json_build_array(w.fence, r.last)), '[]')
      FROM unnest(p_watched) AS w (fence) LEFT JOIN agui.runs r ON r.fence = w.fence)
  )::text;
END $$;

-- A process that ends lets others have its threads at once.
CREATE FUNCTION agui.leave(p_process text, p_owned bigint[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM agui.watchers WHERE process = p_process;
  UPDATE agui.runs SET expires_at = 0 WHERE fence = ANY (p_owned) AND status = 'running';
  RETURN 'ok';
END $$;

-- The fence of a run whose log is still kept, after it was ended if its owner is gone.
CREATE FUNCTION agui.fence_of(
  p_principal text, p_thread text, p_run text, p_log_ms bigint, p_event text, p_expected bigint
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_fence bigint;
BEGIN
  SELECT fence INTO v_fence FROM agui.runs
    WHERE run = agui.key_of(p_principal, p_run) AND (p_thread IS NULL OR thread = agui.key_of(p_principal, p_thread))
      AND (ended_at IS NULL OR ended_at > agui.now_ms() - p_log_ms);
  IF v_fence IS NOT NULL THEN PERFORM agui.settle(v_fence, p_event, p_expected); END IF;
  RETURN v_fence;
END $$;

CREATE FUNCTION agui.find_run(
  p_principal text, p_thread text, p_run text, p_log_ms bigint, p_event text, p_expected bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_fence bigint := agui.fence_of(p_principal, p_thread, p_run, p_log_ms, p_event, p_expected);
  v_run agui.runs;
BEGIN
  SELECT * INTO v_run FROM agui.runs WHERE fence = v_fence;
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN agui.record_of(v_run);
END $$;

CREATE FUNCTION agui.active_run(p_principal text, p_thread text, p_event text, p_expected bigint)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_thread bytea := agui.key_of(p_principal, p_thread);
  v_fence bigint;
  v_run agui.runs;
BEGIN
  SELECT fence INTO v_fence FROM agui.runs WHERE thread = v_thread AND status = 'running';
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM agui.settle(v_fence, p_event, p_expected);
  SELECT * INTO v_run FROM agui.runs WHERE thread = v_thread AND status = 'running';
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN agui.record_of(v_run);
END $$;

-- First the record, then the entries after an offset: both of one moment.
CREATE FUNCTION agui.read_page(p_fence bigint, p_after bigint, p_limit bigint, p_event text, p_expected bigint)
RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM agui.settle(p_fence, p_event, p_expected);
  RETURN QUERY SELECT rows.row FROM (
    SELECT 0::bigint AS place, agui.record_of(r) AS row FROM agui.runs r
      WHERE r.fence = p_fence AND r.ended_at IS DISTINCT FROM 0
    UNION ALL
    (SELECT e.last, '{"from":' || e.first || ',"to":' || e.last || ',"at":' || e.at
        || coalesce(',"cuts":' || e.cuts, '') || ',"event":' || e.event || '}'
      FROM agui.entries e WHERE e.fence = p_fence AND e.last > p_after ORDER BY e.last LIMIT p_limit)
  ) rows ORDER BY rows.place;
END $$;

CREATE FUNCTION agui.read_run(
  p_principal text, p_thread text, p_run text, p_after bigint, p_limit bigint, p_log_ms bigint, p_event text,
  p_expected bigint
) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT agui.read_page(
    agui.fence_of(p_principal, p_thread, p_run, p_log_ms, p_event, p_expected), p_after, p_limit, p_event, p_expected);
END $$;

-- From here on the owner notifies: an append waits for this row, or this waits for the append.
CREATE FUNCTION agui.watch(
  p_principal text, p_thread text, p_run text, p_follower text, p_process text, p_watch_ms bigint,
  p_log_ms bigint, p_event text, p_expected bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_fence bigint := agui.fence_of(p_principal, p_thread, p_run, p_log_ms, p_event, p_expected);
  v_until bigint := agui.now_ms() + p_watch_ms;
BEGIN
  UPDATE agui.runs SET watched_until = greatest(watched_until, v_until) WHERE fence = v_fence AND status = 'running';
  IF FOUND THEN
    INSERT INTO agui.watchers (fence, follower, process, expires_at) VALUES (v_fence, p_follower, p_process, v_until)
      ON CONFLICT (fence, follower) DO NOTHING;
  END IF;
  RETURN v_fence;
END $$;

CREATE FUNCTION agui.unwatch(p_fence bigint, p_follower text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM agui.watchers WHERE fence = p_fence AND follower = p_follower;
  RETURN 'ok';
END $$;

CREATE FUNCTION agui.watchers_of(p_principal text, p_thread text, p_run text) RETURNS text LANGUAGE sql AS $$
  SELECT count(*)::text FROM agui.watchers w JOIN agui.runs r USING (fence)
    WHERE r.run = agui.key_of(p_principal, p_run) AND r.thread = agui.key_of(p_principal, p_thread)
      AND w.expires_at > agui.now_ms()
$$;

-- Sent by a process to itself, to see whether notifications arrive.
CREATE FUNCTION agui.probe(p_name text) RETURNS text LANGUAGE sql AS $$
  SELECT pg_notify('agui', p_name)::text
$$;

-- A command has the next number of its run: a row is locked by one sender at a time, so they arrive in order.
CREATE FUNCTION agui.send(
  p_principal text, p_thread text, p_run text, p_id text, p_value text, p_log_ms bigint, p_event text,
  p_expected bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_fence bigint := agui.fence_of(p_principal, p_thread, p_run, p_log_ms, p_event, p_expected);
  v_number bigint;
BEGIN
  UPDATE agui.runs SET commands = commands + 1 WHERE fence = v_fence AND status = 'running'
    RETURNING commands INTO v_number;
  IF NOT FOUND THEN RETURN 'none'; END IF;
  IF NOT EXISTS (SELECT FROM agui.commands WHERE fence = v_fence AND id = p_id) THEN
    INSERT INTO agui.commands (fence, number, id, value) VALUES (v_fence, v_number, p_id, p_value);
    PERFORM pg_notify('agui', v_fence::text);
  END IF;
  RETURN 'ok';
END $$;

CREATE FUNCTION agui.is_live(p_session agui.sessions, p_ttl_ms bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT p_session.last_activity > agui.now_ms() - p_ttl_ms OR EXISTS (
    SELECT FROM agui.runs WHERE thread = p_session.key AND status = 'running'
      AND agui.is_held(expires_at, lease_ms, NULL))
$$;

-- The last writes: one that is sent again may come after others.
CREATE FUNCTION agui.has_token(p_session agui.sessions, p_token text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT p_token = ANY (string_to_array(p_session.token, ' '))
$$;

-- What a list shows: nothing that may be large.
CREATE FUNCTION agui.head_of(p_session agui.sessions) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT '{"id":' || p_session.id || ',"threadId":' || to_json(p_session.thread_id)
    || ',"agentId":' || to_json(p_session.agent_id) || ',"version":' || p_session.version
    || ',"createdAt":' || p_session.created_at || ',"lastActivity":' || p_session.last_activity
    || ',"messageCount":' || p_session.message_count || ',"metadata":' || p_session.metadata
    || ',"lastRunId":' || coalesce(to_json(p_session.last_run_id)::text, 'null')
    || ',"size":' || p_session.size || ',"activeRunId":' || coalesce((
      SELECT to_json(run_id)::text FROM agui.runs
        WHERE thread = p_session.key AND status IN ('running', 'lost') ORDER BY fence DESC LIMIT 1), 'null') || '}'
$$;

-- First the session, in two parts, then its messages: all of one moment.
CREATE FUNCTION agui.read_session(p_principal text, p_thread text, p_ttl_ms bigint)
RETURNS SETOF text LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_session agui.sessions;
BEGIN
  SELECT * INTO v_session FROM agui.sessions WHERE key = agui.key_of(p_principal, p_thread);
  IF NOT FOUND OR NOT agui.is_live(v_session, p_ttl_ms) THEN RETURN; END IF;
  RETURN NEXT agui.head_of(v_session);
  RETURN NEXT '{"now":' || agui.now_ms() || coalesce(',"state":' || v_session.state, '')
    || ',"data":' || v_session.data || ',"places":' || (
      SELECT coalesce(json_agg(place ORDER BY place), '[]') FROM agui.messages WHERE session = v_session.id) || '}';
  RETURN QUERY SELECT value FROM agui.messages WHERE session = v_session.id ORDER BY place;
END $$;

-- Removes a session and everything of its thread. The owner of a run and its followers are notified.
CREATE FUNCTION agui.drop_thread(p_key bytea) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_fences bigint[];
BEGIN
  DELETE FROM agui.messages m USING agui.sessions s WHERE s.key = p_key AND m.session = s.id;
  DELETE FROM agui.sessions WHERE key = p_key;
  SELECT array_agg(fence) INTO v_fences FROM (
    SELECT fence FROM agui.runs WHERE thread = p_key ORDER BY fence FOR UPDATE) locked;
  IF v_fences IS NULL THEN RETURN; END IF;
  PERFORM pg_notify('agui', fence::text) FROM unnest(v_fences) AS f (fence);
  PERFORM agui.drop_runs(v_fences);
END $$;

-- Returns the time of its creation, 'exists' or 'full'.
CREATE FUNCTION agui.create_session(
  p_principal text, p_thread text, p_agent text, p_metadata text, p_size text, p_token text, p_ttl_ms bigint,
  p_max bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_key bytea := agui.key_of(p_principal, p_thread);
  v_found agui.sessions;
  v_now bigint;
BEGIN
  IF p_max IS NOT NULL THEN PERFORM pg_advisory_xact_lock(hashtext('agui'), 1); END IF;
  LOOP
    SELECT * INTO v_found FROM agui.sessions WHERE key = v_key FOR UPDATE;
    IF FOUND THEN
      IF agui.has_token(v_found, p_token) THEN RETURN v_found.created_at; END IF;
      IF agui.is_live(v_found, p_ttl_ms) THEN RETURN 'exists'; END IF;
      PERFORM agui.drop_thread(v_key);
    END IF;
    IF p_max IS NOT NULL AND (
      SELECT count(*) FROM agui.sessions s WHERE agui.is_live(s, p_ttl_ms)) >= p_max THEN
      RETURN 'full';
    END IF;
    v_now := agui.now_ms();
    INSERT INTO agui.sessions (key, owner, principal, thread_id, agent_id, version, created_at, last_activity,
        message_count, metadata, size, data, token)
      VALUES (v_key, agui.key_of(p_principal, ''), p_principal, p_thread, p_agent, 1, v_now, v_now, 0, p_metadata,
        p_size, '{}', p_token)
      ON CONFLICT (key) DO NOTHING;
    IF FOUND THEN RETURN v_now; END IF;
  END LOOP;
END $$;

-- Returns 'ok', 'conflict' for another version, 'lost' for a lease that is, or 'missing'.
CREATE FUNCTION agui.write_session(
  p_principal text, p_thread text, p_before integer, p_fence bigint, p_ttl_ms bigint, p_token text,
  p_last_activity bigint, p_message_count integer, p_metadata text, p_last_run text, p_size text,
  p_state text, p_data text,
  p_removed integer[], p_places integer[], p_values text[], p_expected bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_key bytea := agui.key_of(p_principal, p_thread);
  v_found agui.sessions;
BEGIN
  SELECT * INTO v_found FROM agui.sessions WHERE key = v_key FOR UPDATE;
  IF FOUND AND agui.has_token(v_found, p_token) THEN RETURN 'ok'; END IF;
  IF p_fence IS NOT NULL THEN
    -- A process that ends the run waits until this is written.
    PERFORM FROM agui.runs
      WHERE fence = p_fence AND thread = v_key AND status = 'running'
        AND agui.is_held(expires_at, lease_ms, p_expected) FOR SHARE;
    IF NOT FOUND THEN RETURN 'lost'; END IF;
  END IF;
  IF v_found.id IS NULL OR NOT agui.is_live(v_found, p_ttl_ms) THEN RETURN 'missing'; END IF;
  IF v_found.version <> p_before THEN RETURN 'conflict'; END IF;
  UPDATE agui.sessions SET version = p_before + 1, last_activity = p_last_activity,
      message_count = p_message_count, metadata = p_metadata, last_run_id = p_last_run, size = p_size,
      state = p_state, data = p_data,
      token = array_to_string((ARRAY[p_token] || string_to_array(v_found.token, ' '))[1:8], ' ')
    WHERE id = v_found.id;
  DELETE FROM agui.messages WHERE session = v_found.id AND place = ANY (p_removed);
  INSERT INTO agui.messages (session, place, value)
    SELECT v_found.id, m.place, m.value FROM unnest(p_places, p_values) AS m (place, value)
    ON CONFLICT (session, place) DO UPDATE SET value = excluded.value;
  RETURN 'ok';
END $$;

CREATE FUNCTION agui.touch_session(p_principal text, p_thread text, p_ttl_ms bigint) RETURNS text LANGUAGE sql AS $$
  UPDATE agui.sessions s SET last_activity = greatest(s.last_activity, agui.now_ms())
    WHERE s.key = agui.key_of(p_principal, p_thread) AND agui.is_live(s, p_ttl_ms);
  SELECT 'ok'::text
$$;

CREATE FUNCTION agui.delete_session(p_principal text, p_thread text, p_ttl_ms bigint)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_key bytea := agui.key_of(p_principal, p_thread);
  v_found agui.sessions;
BEGIN
  SELECT * INTO v_found FROM agui.sessions WHERE key = v_key FOR UPDATE;
  IF v_found.id IS NOT NULL AND NOT agui.is_live(v_found, p_ttl_ms) THEN v_found.id := NULL; END IF;
  PERFORM agui.drop_thread(v_key);
  RETURN CASE WHEN v_found.id IS NULL THEN 'none' ELSE 'ok' END;
END $$;

-- Those of one principal, the last used first, after a place in this order.
CREATE FUNCTION agui.list_sessions(
  p_principal text, p_agent text, p_ttl_ms bigint, p_limit bigint, p_activity bigint, p_id bigint
) RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT agui.head_of(s) FROM agui.sessions s
    WHERE s.owner = agui.key_of(p_principal, '') AND (p_agent IS NULL OR s.agent_id = p_agent)
      AND (p_activity IS NULL OR s.last_activity < p_activity OR (s.last_activity = p_activity AND s.id > p_id))
      AND agui.is_live(s, p_ttl_ms)
    ORDER BY s.last_activity DESC, s.id LIMIT p_limit
$$;

CREATE FUNCTION agui.count_sessions(p_ttl_ms bigint) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT count(*)::text FROM agui.sessions s WHERE agui.is_live(s, p_ttl_ms)
$$;

-- Some of those that have expired, and about so many rows of them at most; what another process is about to remove is
-- left to it. Their runs are gone for readers; the sweep removes the logs in pieces. Returns the number of sessions.
CREATE FUNCTION agui.expire_sessions(p_ttl_ms bigint, p_limit bigint, p_rows bigint)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_id bigint;
  v_key bytea;
  v_left bigint := p_rows;
  v_gone bigint;
  v_count integer := 0;
BEGIN
  FOR v_id, v_key IN
    SELECT s.id, s.key FROM agui.sessions s
      WHERE s.last_activity <= agui.now_ms() - p_ttl_ms AND NOT agui.is_live(s, p_ttl_ms)
      ORDER BY s.last_activity LIMIT p_limit FOR UPDATE SKIP LOCKED
  LOOP
    DELETE FROM agui.messages WHERE session = v_id;
    GET DIAGNOSTICS v_gone = ROW_COUNT;
    DELETE FROM agui.sessions WHERE id = v_id;
    PERFORM pg_notify('agui', fence::text) FROM agui.runs WHERE thread = v_key AND status = 'running';
    UPDATE agui.runs SET status = CASE status WHEN 'running' THEN 'lost' ELSE status END, ended_at = 0
      WHERE thread = v_key;
    v_count := v_count + 1;
    v_left := v_left - v_gone - 1;
    EXIT WHEN v_left <= 0;
  END LOOP;
  RETURN v_count;
END $$;

-- Some logs whose time is over, at most so many entries of them, and other things that have expired.
-- Returns whether there is more to do.
CREATE FUNCTION agui.sweep(p_log_ms bigint, p_entries bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_now bigint := agui.now_ms();
  v_left bigint := p_entries;
  v_gone bigint;
  v_fence bigint;
  v_blob bigint;
  v_runs integer := 0;
  v_more text := 'done';
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  FOR v_fence IN
    SELECT fence FROM agui.runs WHERE ended_at <= v_now - p_log_ms ORDER BY ended_at LIMIT 100 FOR UPDATE SKIP LOCKED
  LOOP
    DELETE FROM agui.entries WHERE fence = v_fence AND last <= (
      SELECT max(oldest.last) FROM (
        SELECT e.last FROM agui.entries e WHERE e.fence = v_fence ORDER BY e.last LIMIT v_left) oldest);
    GET DIAGNOSTICS v_gone = ROW_COUNT;
    v_left := v_left - v_gone;
    IF v_left <= 0 THEN v_more := 'more'; EXIT; END IF;
    PERFORM agui.drop_runs(ARRAY[v_fence]);
    v_runs := v_runs + 1;
  END LOOP;
  IF v_runs = 100 THEN v_more := 'more'; END IF;
  FOR v_blob IN
    SELECT id FROM agui.blobs WHERE expires_at <= v_now LIMIT 4 FOR UPDATE SKIP LOCKED
  LOOP
    DELETE FROM agui.blob_pieces WHERE blob = v_blob;
    DELETE FROM agui.blobs WHERE id = v_blob;
    v_more := 'more';
  END LOOP;
  DELETE FROM agui.watchers WHERE expires_at <= v_now;
  DELETE FROM agui.buckets WHERE key IN (
    SELECT key FROM agui.buckets WHERE full_at <= v_now LIMIT 1000 FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS v_gone = ROW_COUNT;
  IF v_gone = 1000 THEN v_more := 'more'; END IF;
  RETURN v_more;
END $$;

-- Returns 0, or the milliseconds to wait.
CREATE FUNCTION agui.take(p_name text, p_cost double precision, p_tokens double precision, p_per_ms double precision)
RETURNS text LANGUAGE sql AS $$
  INSERT INTO agui.buckets AS b (key, tokens, wait, at, full_at)
    SELECT agui.key_of('', p_name), CASE WHEN n.wait > 0 THEN p_tokens ELSE p_tokens - p_cost END, n.wait, n.now,
        n.now + p_per_ms
      FROM (SELECT agui.now_ms() AS now,
        CASE WHEN p_cost > p_tokens THEN ceil((p_cost - p_tokens) * p_per_ms / p_tokens) ELSE 0 END AS wait) n
    ON CONFLICT (key) DO UPDATE SET
      tokens = least(p_tokens, b.tokens + greatest(0, excluded.at - b.at) * p_tokens / p_per_ms)
        - CASE WHEN least(p_tokens, b.tokens + greatest(0, excluded.at - b.at) * p_tokens / p_per_ms) >= p_cost
          THEN p_cost ELSE 0 END,
      wait = greatest(0, ceil((p_cost - least(p_tokens,
        b.tokens + greatest(0, excluded.at - b.at) * p_tokens / p_per_ms)) * p_per_ms / p_tokens)),
      at = greatest(b.at, excluded.at), full_at = excluded.full_at
    RETURNING wait::text
$$;

-- Returns the id of a new blob, or nothing when the key is taken.
CREATE FUNCTION agui.reserve_blob(
  p_principal text, p_name text, p_token text, p_metadata text, p_ttl_ms bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_key bytea := agui.key_of(p_principal, p_name);
  v_found agui.blobs;
  v_id bigint;
BEGIN
  LOOP
    SELECT * INTO v_found FROM agui.blobs WHERE key = v_key FOR UPDATE;
    IF FOUND THEN
      IF v_found.token = p_token THEN RETURN v_found.id; END IF;
      IF v_found.expires_at > agui.now_ms() THEN RETURN NULL; END IF;
      DELETE FROM agui.blob_pieces WHERE blob = v_found.id;
      DELETE FROM agui.blobs WHERE id = v_found.id;
    END IF;
    INSERT INTO agui.blobs (key, principal, name, token, metadata, expires_at)
      VALUES (v_key, p_principal, p_name, p_token, p_metadata, agui.now_ms() + p_ttl_ms)
      ON CONFLICT (key) DO NOTHING RETURNING id INTO v_id;
    IF FOUND THEN RETURN v_id; END IF;
  END LOOP;
END $$;

CREATE FUNCTION agui.write_piece(p_blob bigint, p_place integer, p_bytes text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM agui.blobs WHERE id = p_blob AND size IS NULL FOR SHARE;
  IF NOT FOUND THEN RETURN 'gone'; END IF;
  INSERT INTO agui.blob_pieces (blob, place, bytes) VALUES (p_blob, p_place, decode(p_bytes, 'base64'))
    ON CONFLICT (blob, place) DO NOTHING;
  RETURN 'ok';
END $$;

CREATE FUNCTION agui.finish_blob(p_blob bigint, p_size bigint, p_ttl_ms bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  UPDATE agui.blobs SET size = p_size, expires_at = agui.now_ms() + p_ttl_ms WHERE id = p_blob;
  RETURN CASE WHEN FOUND THEN 'ok' ELSE 'gone' END;
END $$;

CREATE FUNCTION agui.find_blob(p_principal text, p_name text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT '{"id":' || id || ',"size":' || size || ',"metadata":' || metadata || '}' FROM agui.blobs
    WHERE key = agui.key_of(p_principal, p_name) AND size IS NOT NULL AND expires_at > agui.now_ms()
$$;

-- Returns 'gone' when the blob is, and nothing after the last piece.
CREATE FUNCTION agui.read_piece(p_blob bigint, p_place integer) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  PERFORM FROM agui.blobs WHERE id = p_blob AND expires_at > agui.now_ms();
  IF NOT FOUND THEN RETURN 'gone'; END IF;
  RETURN (SELECT ':' || translate(encode(bytes, 'base64'), chr(10), '') FROM agui.blob_pieces
    WHERE blob = p_blob AND place = p_place);
END $$;

CREATE FUNCTION agui.drop_blob(p_blob bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM agui.blobs WHERE id = p_blob;
  DELETE FROM agui.blob_pieces WHERE blob = p_blob;
  RETURN CASE WHEN FOUND THEN 'ok' ELSE 'gone' END;
END $$;

CREATE FUNCTION agui.delete_blob(p_principal text, p_name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_id bigint;
BEGIN
  DELETE FROM agui.blobs WHERE key = agui.key_of(p_principal, p_name) AND size IS NOT NULL
    AND expires_at > agui.now_ms() RETURNING id INTO v_id;
  IF NOT FOUND THEN RETURN 'none'; END IF;
  DELETE FROM agui.blob_pieces WHERE blob = v_id;
  RETURN 'ok';
END $$;

CREATE FUNCTION agui.blob_bytes() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(size), 0)::text FROM agui.blobs WHERE expires_at > agui.now_ms()
$$;

DO $$
DECLARE
  v_function text;
BEGIN
  FOR v_function IN
    SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
      WHERE n.nspname = 'agui'
        AND p.proname <> ALL (ARRAY['now_ms', 'key_of', 'is_held', 'later_end', 'is_live', 'has_token', 'head_of',
          'record_of'])
  LOOP
    EXECUTE 'ALTER FUNCTION ' || v_function || ' SET search_path = pg_catalog, pg_temp';
  END LOOP;
END $$;

INSERT INTO agui.migrations (version) VALUES (1);
SELECT set_config('search_path', current_setting('holodeck.search_path'), true);
