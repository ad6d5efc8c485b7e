# SPDX-License-Identifier: Apache-2.0
# include costmodel.mk: `make costmodel-check` fails when the model got dearer, and
# `make costmodel-accept REASON='…'` takes what it costs now for the baseline (without a reason
# where nothing got dearer).
COSTMODEL ?= costmodel
COSTMODEL_MODEL ?= model.onnx
COSTMODEL_BASELINE ?= costmodel.json
COSTMODEL_FLAGS ?=

.PHONY: costmodel-check costmodel-accept

costmodel-check:
	$(COSTMODEL) check '$(COSTMODEL_MODEL)' --baseline '$(COSTMODEL_BASELINE)' $(COSTMODEL_FLAGS)

costmodel-accept:
	$(COSTMODEL) check '$(COSTMODEL_MODEL)' --baseline '$(COSTMODEL_BASELINE)' $(COSTMODEL_FLAGS) \
	  --update-baseline $(if $(REASON),--reason '$(subst ','\'',$(REASON))')
