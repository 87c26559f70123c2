echo "wrong $SIGNALBOX_STATE $SIGNALBOX_ATTEMPT" > greeting
echo '{"status":"success","confidence_score":0.95,"summary":"greet","spend":{"tokens_in":8,"tokens_out":4,"usd":0.5}}' > "$SIGNALBOX_RESULT"
