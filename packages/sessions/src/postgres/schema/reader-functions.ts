/** What any process does with a run: looking it up, reading it, following it, and sending commands to its owner. */
export const readerFunctions = `
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
`;
