/** Sessions, their messages, and rate limits. A write may be sent twice: its token is stored with it. */
export const sessionFunctions = `
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
`;
